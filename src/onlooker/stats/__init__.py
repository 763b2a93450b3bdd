"""Arrays in, frozen results out: resampling, intervals, ranks, tests, agreement, voting. No records, no files.

Every function is one row of docs/statistics.md: formula, source, when it is undefined.
"""

from onlooker.stats.additive import Additive, additive_model
from onlooker.stats.agreement import (
    LEVELS,
    Level,
    RatingTable,
    fleiss_kappa,
    krippendorff_alpha,
    krippendorff_interval,
    pair_agreement,
    step_shares,
    tabulate,
    two_draw_agreement,
    unanimity,
)
from onlooker.stats.beta import regularized_beta, student_p
from onlooker.stats.cluster import (
    Difference,
    Estimate,
    Mean,
    Median,
    Proportion,
    Statistic,
    Sums,
    Total,
    cluster_weights,
    conclude,
    correlation,
    draw,
    estimate,
    mean,
    mean_of_ratios,
    mean_over_seeds,
    pooled_pearson,
    ratio,
)
from onlooker.stats.contrast import (
    Contrast,
    Matched,
    Pairs,
    contrasts,
    difference_of_differences,
    match_rows,
    paired_difference,
)
from onlooker.stats.correlation import Correlation, pearson_interval
from onlooker.stats.interval import percentile_interval, wilson
from onlooker.stats.intraclass import FORMS, Form, Intraclass, intraclass
from onlooker.stats.kappa import Kappa, Weighting, cohen_kappa
from onlooker.stats.leaderboard import Standing, leaderboard
from onlooker.stats.multiplicity import Adjusted, benjamini_hochberg, holm
from onlooker.stats.paired import McNemar, Wilcoxon, mcnemar, wilcoxon_signed_rank
from onlooker.stats.planning import Detectable, ItemsNeeded, detectable_difference, items_needed
from onlooker.stats.prediction_powered import Corrected, prediction_powered_mean
from onlooker.stats.profiles import LeaveOneOut, leave_one_rater_out
from onlooker.stats.ranks import average_ranks, extended_spearman, pair_order_accuracy, pearson, spearman
from onlooker.stats.results import Coefficient
from onlooker.stats.seeds import generator
from onlooker.stats.two_samples import MannWhitney, TTest, cohen_d, mann_whitney, paired_cohen_d, t_test
from onlooker.stats.voting import Vote, count_votes

__all__ = [
    "FORMS",
    "LEVELS",
    "Additive",
    "Adjusted",
    "Coefficient",
    "Contrast",
    "Corrected",
    "Correlation",
    "Detectable",
    "Difference",
    "Estimate",
    "Form",
    "Intraclass",
    "ItemsNeeded",
    "Kappa",
    "LeaveOneOut",
    "Level",
    "MannWhitney",
    "Matched",
    "McNemar",
    "Mean",
    "Median",
    "Pairs",
    "Proportion",
    "RatingTable",
    "Standing",
    "Statistic",
    "Sums",
    "TTest",
    "Total",
    "Vote",
    "Weighting",
    "Wilcoxon",
    "additive_model",
    "average_ranks",
    "benjamini_hochberg",
    "cluster_weights",
    "cohen_d",
    "cohen_kappa",
    "conclude",
    "contrasts",
    "correlation",
    "count_votes",
    "detectable_difference",
    "difference_of_differences",
    "draw",
    "estimate",
    "extended_spearman",
    "fleiss_kappa",
    "generator",
    "holm",
    "intraclass",
    "items_needed",
    "krippendorff_alpha",
    "krippendorff_interval",
    "leaderboard",
    "leave_one_rater_out",
    "mann_whitney",
    "match_rows",
    "mcnemar",
    "mean",
    "mean_of_ratios",
    "mean_over_seeds",
    "pair_agreement",
    "pair_order_accuracy",
    "paired_cohen_d",
    "paired_difference",
    "pearson",
    "pearson_interval",
    "percentile_interval",
    "pooled_pearson",
    "prediction_powered_mean",
    "ratio",
    "regularized_beta",
    "spearman",
    "step_shares",
    "student_p",
    "t_test",
    "tabulate",
    "two_draw_agreement",
    "unanimity",
    "wilcoxon_signed_rank",
    "wilson",
]
