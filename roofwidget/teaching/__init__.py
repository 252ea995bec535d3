"""Lessons: questions that check an answer, stories in steps, and grading."""
