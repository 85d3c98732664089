"""Match states of DNA and RNA, as `scripts/train_models.py` writes them.

`open_short` is the chance that a gap of either sequence follows.
"""

from pairalign.scoring.posterior_tables import MatchState

DNA_BACKGROUND = "0.2563 0.2257 0.2806 0.2374"
"""Of A, C, G and T."""

DNA_ODDS = "2.351\n0.4128 2.673\n0.601 0.398 2.325\n0.5719 0.7552 0.4375 2.36"
"""Without match states."""

DNA_STATES = (
    MatchState(
        stay=0.9644,
        leave=0.02284,
        enter=0.02902,
        open_short=0.006388,
        open_long=0,
        odds="3.662\n0.02648 3.848\n0.06973 0.0312 3.422\n0.1433 0.1843 0.0182 4.212",
    ),
    MatchState(
        stay=0.7937,
        leave=0.1824,
        enter=0.2864,
        open_short=0.01194,
        open_long=0,
        odds="2.663\n0.08921 2.342\n0.5398 0.1575 3.725\n0.2984 0.5096 0.2852 3.116",
    ),
    MatchState(
        stay=0.8467,
        leave=0.106,
        enter=0.1506,
        open_short=0.02362,
        open_long=0,
        odds="2.879\n0.4995 5.129\n0.4294 0.2739 1.168\n0.7232 0.8536 0.1737 1.789",
    ),
    MatchState(
        stay=0.6678,
        leave=0.2341,
        enter=0.534,
        open_short=0.04909,
        open_long=0,
        odds="1.189\n0.8125 0.9941\n0.9901 0.8412 1.309\n0.909 1.162 0.9099 1.222",
    ),
)
