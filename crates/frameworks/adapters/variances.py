"""For frameworks whose running variances gather a batch's variance divided by n, where the others divide by n - 1."""


class Variances:
    """Kept as n - 1 parts of n while it trains, a running variance is right in the end, and nothing is computed but
    when the batch's size changes.

    `own(name)` is the framework's variance of that name, `scale(variance, ratio)` multiplies it in place."""

    def __init__(self, graph, own, scale):
        self.kept = [(own(node["name"] + ".variance"), node["shape"].get("height", 1) * node["shape"].get("width", 1))
                     for node in graph["nodes"] if node["op"]["kind"] == "batch-norm"]
        self.scale = scale
        self.images = None

    def gather(self, images):
        """Of batches of so many images from now on; None is what a reader expects."""
        if images == self.images:
            return
        for variance, positions in self.kept:
            self.scale(variance, share(images, positions) / share(self.images, positions))
        self.images = images


class Unbiased:
    """Where the framework divides by n - 1 itself."""

    images = None

    def gather(self, images):
        pass


def share(images, positions):
    count = (images or 0) * positions
    return (count - 1) / count if count > 1 else 1.0
