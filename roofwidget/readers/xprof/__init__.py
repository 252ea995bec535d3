"""XProf's profiles of TPU and GPU programs, in each of the forms that it exports."""
