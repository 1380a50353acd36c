//! Which scenario to measure next, and when enough is known for a goal.
