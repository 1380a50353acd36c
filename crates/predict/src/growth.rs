//! How time grows with cores, workers, batch and image size: laws fitted, chosen and extrapolated.
