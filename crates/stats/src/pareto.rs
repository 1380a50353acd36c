//! Which of many choices are not beaten in all of several criteria at once.

/// Indices of the choices that no other beats, by growing first criterion. A choice beats another if it is as low
/// in every criterion and lower in one. Equal choices are all kept; choices with values that are not finite are left
/// out.
pub fn pareto(choices: &[Vec<f64>]) -> Vec<usize> {
    let is_finite = |index: &usize| choices[*index].iter().all(|value| value.is_finite());
    let mut order: Vec<usize> = (0..choices.len()).filter(is_finite).collect();
    let compare = |a: &Vec<f64>, b: &Vec<f64>| {
        let pairs = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
        pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    };
    order.sort_by(|a, b| compare(&choices[*a], &choices[*b]));
    // Whoever beats a choice is before it in this order, and so is somebody who is beaten by nobody.
    let mut front: Vec<usize> = Vec::new();
    for index in order {
        if !front
            .iter()
            .any(|other| beats(&choices[*other], &choices[index]))
        {
            front.push(index);
        }
    }
    front
}

fn beats(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a != b
}
