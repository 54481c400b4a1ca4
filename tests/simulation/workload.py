"""Random work for a rig: everything that can be asked of a store, in small domains that collide."""

from random import Random
from typing import Final

from simulation.requests import Delete, Expire, Order, Say
from simulation.rig import KEYS, Rig
from simulation.sim_clock import DAY_NS, NS_PER_S, YEAR_NS

_PASSES: Final = (NS_PER_S, 600 * NS_PER_S, 1800 * NS_PER_S, DAY_NS)
_JUMPS: Final = (-DAY_NS, 10 * YEAR_NS)


def random_order(rig: Rig, random: Random) -> Order:
    """One command."""
    key = random.choice(KEYS)
    fate = random.random()
    if fate < 0.12:
        return Expire(key)
    if fate < 0.22:
        return Delete(key)
    talk = rig.visible.talks.get(key)
    session = None
    if random.random() < 0.2:
        session = talk.session_id if talk and talk.session_id else "0" * 32
    if random.random() < 0.3:
        turn_id = f"t{random.randrange(4)}"
        text = rig.text(random)
        if talk and turn_id in talk.ids and random.random() < 0.7:
            text = talk.ids[turn_id]  # a retry
        return Say(key, (text,), (0,), turn_id, session)
    count = random.choice((1, 1, 1, 3))
    texts = tuple(rig.text(random) for _ in range(count))
    return Say(key, texts, tuple(random.randrange(4) for _ in texts), None, session)


class TurnsBeside:
    """Turns that come while the store works in the background."""

    def __init__(self, rig: Rig, random: Random) -> None:
        self._rig = rig
        self._random = random
        self._left = 4

    def add(self) -> None:
        """Perhaps one more."""
        rig, random = self._rig, self._random
        if self._left and random.random() < 0.3:
            self._left -= 1
            rig.order(Say(random.choice(KEYS), (rig.text(random),), (random.randrange(4),)))


def work(rig: Rig, random: Random) -> None:
    """One step: a batch of commands, or something that only the store itself or time does."""
    fate = random.random()
    if fate < 0.6:
        rig.order(random_order(rig, random))
    elif fate < 0.75:
        rig.order(*(random_order(rig, random) for _ in range(random.randint(2, 4))))
    elif fate < 0.8:
        rig.flush()
    elif fate < 0.84:
        rig.flush(between=TurnsBeside(rig, random).add)
    elif fate < 0.87:
        rig.sync()
    elif fate < 0.93:
        rig.tick()
    elif fate < 0.97:
        rig.clock.pass_time(random.choice(_PASSES))
    elif fate < 0.98:
        rig.clock.jump(random.choice(_JUMPS))
    else:
        rig.close()
        rig.open()
        rig.check_recovery()
