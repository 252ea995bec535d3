# The public names, each with the module that has it: one import a line, which `__init__.py` reads too. "Not in __all__"
# are classes of results, which nobody makes by hand, and what IPython calls.

from roofwidget import companions as companions
from roofwidget import network as network
from roofwidget import workloads as workloads
from roofwidget.analysis.advice import Advice as Advice  # not in __all__
from roofwidget.analysis.advice import Advices as Advices  # not in __all__
from roofwidget.analysis.advice import advise as advise
from roofwidget.analysis.bound import bound as bound
from roofwidget.analysis.compare_chips import Comparison as Comparison  # not in __all__
from roofwidget.analysis.compare_chips import Flip as Flip  # not in __all__
from roofwidget.analysis.compare_chips import compare_chips as compare_chips
from roofwidget.analysis.compare_runs import compare_runs as compare_runs
from roofwidget.analysis.exercise import roofline_analysis as roofline_analysis
from roofwidget.analysis.instruction_roofline import InstructionRoofline as InstructionRoofline  # not in __all__
from roofwidget.analysis.instruction_roofline import Wall as Wall  # not in __all__
from roofwidget.analysis.instruction_roofline import instruction_roofline as instruction_roofline
from roofwidget.analysis.latency import LatencyRoof as LatencyRoof  # not in __all__
from roofwidget.analysis.latency import Waves as Waves  # not in __all__
from roofwidget.analysis.latency import bytes_in_flight as bytes_in_flight
from roofwidget.analysis.latency import bytes_to_reach as bytes_to_reach
from roofwidget.analysis.latency import latency_roof as latency_roof
from roofwidget.analysis.latency import waves as waves
from roofwidget.analysis.messages import Messages as Messages  # not in __all__
from roofwidget.analysis.plan import Evidence as Evidence  # not in __all__
from roofwidget.analysis.plan import Plan as Plan  # not in __all__
from roofwidget.analysis.plan import PlanStep as PlanStep  # not in __all__
from roofwidget.analysis.plan import plan as plan
from roofwidget.analysis.projection import Projection as Projection  # not in __all__
from roofwidget.analysis.projection import project as project
from roofwidget.analysis.rank_messages import RankMessages as RankMessages  # not in __all__
from roofwidget.analysis.ranks import Ranks as Ranks
from roofwidget.analysis.ranks import Straggler as Straggler  # not in __all__
from roofwidget.analysis.reasons import Reason as Reason  # not in __all__
from roofwidget.analysis.reasons import reasons as reasons
from roofwidget.analysis.reasons import telling as telling
from roofwidget.analysis.result import Bound as Bound
from roofwidget.analysis.roofline import attainable as attainable
from roofwidget.analysis.roofline import ridge_point as ridge_point
from roofwidget.analysis.run_comparison import RunComparison as RunComparison  # not in __all__
from roofwidget.analysis.run_series import RunSeries as RunSeries  # not in __all__
from roofwidget.analysis.run_series import RunStep as RunStep  # not in __all__
from roofwidget.analysis.run_series import RunTrend as RunTrend  # not in __all__
from roofwidget.analysis.sizing import critical_batch as critical_batch
from roofwidget.analysis.sizing import critical_batch_per_chip as critical_batch_per_chip
from roofwidget.analysis.sizing import smallest_square_matmul as smallest_square_matmul
from roofwidget.analysis.snapshot import Snapshot as Snapshot
from roofwidget.analysis.utilization import ModelFlops as ModelFlops
from roofwidget.analysis.utilization import Utilization as Utilization
from roofwidget.analysis.utilization import mbu as mbu
from roofwidget.analysis.utilization import mfu as mfu
from roofwidget.analysis.verdict import Verdict as Verdict  # not in __all__
from roofwidget.chips import AmbiguousChipError as AmbiguousChipError
from roofwidget.chips import Ceiling as Ceiling
from roofwidget.chips import Chip as Chip
from roofwidget.chips import Energy as Energy
from roofwidget.chips import Link as Link
from roofwidget.chips import Memory as Memory
from roofwidget.chips import MissingFigureError as MissingFigureError
from roofwidget.chips import Source as Source
from roofwidget.chips import UnknownChipError as UnknownChipError
from roofwidget.chips import chip as chip
from roofwidget.chips import chips as chips
from roofwidget.chips import chips_json as chips_json
from roofwidget.chips import load_chips as load_chips
from roofwidget.kernels.kernel import Kernel as Kernel
from roofwidget.kernels.metadata import Activity as Activity  # not in __all__
from roofwidget.kernels.metadata import Communication as Communication  # not in __all__
from roofwidget.kernels.presets import Preset as Preset
from roofwidget.kernels.presets import preset as preset
from roofwidget.kernels.presets import presets as presets
from roofwidget.kernels.table import Kernels as Kernels
from roofwidget.kernels.unknown_work import UnknownWork as UnknownWork  # not in __all__
from roofwidget.kernels.unknown_work import UnknownWorks as UnknownWorks  # not in __all__
from roofwidget.live.magic import load_ipython_extension as load_ipython_extension  # not in __all__
from roofwidget.live.record import record as record
from roofwidget.measure.analyzer import RooflineAnalyzer as RooflineAnalyzer
from roofwidget.measure.analyzer import RooflinePoint as RooflinePoint
from roofwidget.measure.hardware_peaks import HardwarePeaks as HardwarePeaks
from roofwidget.measure.hardware_peaks import MeasuredRate as MeasuredRate  # not in __all__
from roofwidget.measure.hlo.program import from_hlo_text as from_hlo_text
from roofwidget.measure.jax.programs import from_jax as from_jax
from roofwidget.measure.measured import measured as measured
from roofwidget.measure.peaks import clear_peaks_cache as clear_peaks_cache
from roofwidget.measure.peaks import measure_peaks as measure_peaks
from roofwidget.measure.profile import Profile as Profile
from roofwidget.measure.profile import count_flops as count_flops
from roofwidget.measure.profile import profile as profile
from roofwidget.measure.recording import Recording as Recording  # not in __all__
from roofwidget.measure.sol import sol as sol
from roofwidget.measure.sweep import Sweep as Sweep
from roofwidget.measure.sweep import sweep as sweep
from roofwidget.measure.this_chip import this_chip as this_chip
from roofwidget.model import RooflineModel as RooflineModel
from roofwidget.model import save_page as save_page
from roofwidget.model import to_myst as to_myst
from roofwidget.readers import ProfileError as ProfileError
from roofwidget.readers import read as read
from roofwidget.readers import read_many as read_many
from roofwidget.readers.ceilings import read_ceilings as read_ceilings
from roofwidget.readers.ranks import ranks as ranks
from roofwidget.readers.torch.rules import WorkRules as WorkRules
from roofwidget.teaching.bank import question_bank as question_bank
from roofwidget.teaching.classroom.checking import class_check as class_check
from roofwidget.teaching.classroom.handing_out import class_pages as class_pages
from roofwidget.teaching.grading import Grade as Grade  # not in __all__
from roofwidget.teaching.grading import Grades as Grades
from roofwidget.teaching.grading import grade as grade
from roofwidget.teaching.handout import class_handout as class_handout
from roofwidget.teaching.item_analysis import ItemAnalysis as ItemAnalysis  # not in __all__
from roofwidget.teaching.item_analysis import item_analysis as item_analysis
from roofwidget.teaching.lms import export_questions as export_questions
from roofwidget.teaching.misconceptions import misconceptions as misconceptions
from roofwidget.teaching.question import Check as Check  # not in __all__
from roofwidget.teaching.question import Question as Question
from roofwidget.teaching.story import Step as Step
from roofwidget.teaching.story import Story as Story
from roofwidget.teaching.story import ask as ask
from roofwidget.widget import RooflineWidget as RooflineWidget
from roofwidget.widget import explore as explore
from roofwidget.widget import load as load
from roofwidget.widget import roofline as roofline
from roofwidget.workloads import Convention as Convention
from roofwidget.workloads import Graph as Graph
from roofwidget.workloads import Serving as Serving
from roofwidget.workloads import chain as chain
from roofwidget.workloads import dim as dim
from roofwidget.workloads import model_flops as model_flops
from roofwidget.workloads import register_op as register_op
from roofwidget.workloads import serve as serve
from roofwidget.workloads.partition import Partition as Partition
from roofwidget.workloads.speed_of_light import Score as Score  # not in __all__
from roofwidget.workloads.speed_of_light import SpeedOfLight as SpeedOfLight
from roofwidget.workloads.speed_of_light import TimedKernel as TimedKernel  # not in __all__
from roofwidget.workloads.speed_of_light import TimeVerdict as TimeVerdict  # not in __all__

__version__: str
_NAMES: dict[str, str]
