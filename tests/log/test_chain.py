from turnfold.events.codec import REASON_CODES
from turnfold.events.event import Gap
from turnfold.events.log.chain import advance, genesis, skip
from turnfold.events.reasons import Reason

STORE_ID = bytes(range(16))


def test_heads_are_pinned() -> None:
    """A change here makes every log ever written unverifiable."""
    start = genesis(STORE_ID)
    after = advance(start, 1, 1, b"chained")
    skipped = skip(after, Gap(2, 9, Reason.OPENED_DAMAGED))

    assert [head.hex() for head in (start, after, skipped)] == [
        "627d701302d26b1e272a1fb5de4950971e0f7b71464573a7e02fe2061d9e06f7",
        "f5005b9e57af913c6c04eeba08d2150246d26bffee7fe1418462c427f070eea1",
        "227c599df757da893ef879920ea6aa5af56129c14ede4639dc168b38f10036f1",
    ]


def test_head_depends_on_everything_it_covers() -> None:
    start = genesis(STORE_ID)
    heads = {
        advance(start, 1, 1, b"chained"),
        advance(genesis(bytes(16)), 1, 1, b"chained"),
        advance(start, 2, 1, b"chained"),
        advance(start, 1, 2, b"chained"),
        advance(start, 1, 1, b"chaineD"),
        advance(start, 1, 1, b"chained\0"),
        skip(start, Gap(2, 9, Reason.OPENED_DAMAGED)),
        skip(start, Gap(2, 8, Reason.OPENED_DAMAGED)),
        skip(start, Gap(2, 9, Reason.DAMAGE_FOUND)),
    }

    assert len(heads) == 9
    assert {len(head) for head in heads} == {32}


def test_a_gap_and_a_frame_of_the_same_bytes_differ() -> None:
    """Both hash the same 49 bytes here; the person strings keep them apart."""
    start = genesis(STORE_ID)
    gap = Gap(1, 7 | 1 << 32, Reason.OPENED_DAMAGED)  # epoch 7, then a length of 1
    code = bytes([REASON_CODES[gap.reason]])

    assert skip(start, gap) != advance(start, 1, 7, code)
