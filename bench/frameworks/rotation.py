"""Holds the batches of a benchmark on the device, for modes in which one call does the steps of many."""

from __future__ import annotations

from ..program import Unsupported

#: Batches that lie on the device together.
MOST_BATCHES = 8


class Rotation:
    """The batches that runs were given so far, stacked on the device in the order in which they came."""

    def __init__(self, mode, other, stack):
        """Stack with ``stack``; refusals name ``mode``, and ``other``, which takes batches in any order."""
        self._mode, self._other, self._stack = mode, other, stack
        self._places = {}
        self._known = []
        self.stacked = ()

    @property
    def period(self):
        return len(self._known)

    def first_of(self, batches):
        """Return the place of the first batch. Raises Unsupported where ``batches`` are not in rotation."""
        for batch in batches[:MOST_BATCHES]:
            # Batches are tuples of the same arrays, not the same tuples.
            if id(batch[0]) not in self._places:
                self._add(batch)
        places = self._places
        first, period = places[id(batches[0][0])], self.period
        if any(places.get(id(batch[0])) != (first + index) % period for index, batch in enumerate(batches)):
            raise Unsupported("mode {} needs batches that repeat in one order; use {}".format(self._mode, self._other))
        return first

    def _add(self, batch):
        if self.period == MOST_BATCHES:
            raise Unsupported(
                "mode {} holds {} batches and was given another one; use {}".format(
                    self._mode, MOST_BATCHES, self._other
                )
            )
        self._places[id(batch[0])] = self.period
        self._known.append(batch)
        # Always as many, so that the executable stays the same.
        filled = self._known + [batch] * (MOST_BATCHES - self.period)
        self.stacked = tuple(self._stack(arrays) for arrays in zip(*filled))
