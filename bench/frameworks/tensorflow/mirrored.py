"""Divides training steps between two GPUs or logical devices of a processor with MirroredStrategy."""

from __future__ import annotations

import functools

import tensorflow as tf

from .. import halves

MODE = "mirrored"


def verify_gpus():
    """Raise Unsupported where TensorFlow sees too few GPUs."""
    halves.verify_gpus(MODE, len(tf.config.list_physical_devices("GPU")))


def divide_processor(threads):
    """Divide the processor into logical devices; before TensorFlow uses it. Raises Unsupported where it cannot be.

    As many threads start operations as without devices, and as many as each device has compute within them.
    """
    halves.verify_threads(MODE, threads)
    (processor,) = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration() for _ in range(halves.DEVICES)]
    tf.config.set_logical_device_configuration(processor, parts)
    tf.config.threading.set_intra_op_parallelism_threads(threads // halves.DEVICES)


def names():
    """Name the devices: GPUs where they are visible, as the adapter of a processor hides them."""
    kind = "GPU" if tf.config.get_visible_devices("GPU") else "CPU"
    return ["/{}:{}".format(kind, index) for index in range(halves.DEVICES)]


@functools.lru_cache(maxsize=None)
def strategy():
    """Return the strategy of this process; the all-reduces of two would take each other's tensors."""
    return tf.distribute.MirroredStrategy(names())


def moments_of_all(mean, variance):
    """Return the mean and the variance of the values of all devices, given those of this device's, within a step.

    The devices have equally many values. One exchange is enough, and no mean of squares loses bits.
    """
    gathered = tf.distribute.get_replica_context().all_gather(tf.stack([mean, variance])[tf.newaxis], axis=0)
    means, variances = gathered[:, 0], gathered[:, 1]
    whole = tf.reduce_mean(means, axis=0)
    return whole, tf.reduce_mean(variances + tf.square(means - whole), axis=0)


class Mirrors:
    """The devices, each with a copy of every variable that is made in ``scope``."""

    def __init__(self):
        self._strategy = strategy()
        self._names = names()
        self.scope = self._strategy.scope
        self._halves = halves.Halves(MODE, self._divide)

    def alike(self, value, name):
        """Return a variable to which every device assigns the same value: none waits for another one's."""
        return tf.Variable(
            value,
            name=name,
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
        )

    def _divide(self, batch):
        return tuple(self._strategy.experimental_distribute_values_from_function(self._part(array)) for array in batch)

    def _part(self, array):
        length = len(array) // halves.DEVICES

        def part(context):
            index = context.replica_id_in_sync_group
            with tf.device(self._names[index]):
                return tf.identity(array[index * length : (index + 1) * length])

        return part

    def averaging(self, differentiate):
        """Return ``differentiate`` with the loss and the gradients averaged over the devices."""

        def averaged(*batch):
            value, gradients = differentiate(*batch)
            context = tf.distribute.get_replica_context()
            value, *gradients = context.all_reduce(tf.distribute.ReduceOp.MEAN, [value, *gradients])
            return value, gradients

        return averaged

    def stepping(self, update, transform_step):
        """Return a step that runs ``update`` on every device and returns the value of the first."""

        def everywhere(*parts):
            return self._strategy.experimental_local_results(self._strategy.run(update, args=parts))[0]

        transformed = transform_step(everywhere)
        return lambda *batch: transformed(*self._halves(batch))

    def settings(self, variables):
        """Read back on how many devices the variables lie."""
        copies = (self._strategy.experimental_local_results(variable) for variable in variables)
        return {"devices": min(len({copy.device for copy in each}) for each in copies)}
