//! Algebra of the five variables of a point.

/// The variables of a point: density, three momenta, energy.
pub type State = [f64; 5];

/// A matrix of them, by rows.
pub type Block = [[f64; 5]; 5];

/// The matrix without entries.
pub const NOTHING: Block = [[0.0; 5]; 5];

/// `to += factor * state`.
pub fn add(to: &mut State, factor: f64, state: &State) {
    to.iter_mut()
        .zip(state)
        .for_each(|(to, value)| *to += factor * value);
}

/// `to += factor * block * state`.
pub fn add_product(to: &mut State, factor: f64, block: &Block, state: &State) {
    for (to, row) in to.iter_mut().zip(block) {
        let product: f64 = row.iter().zip(state).map(|(a, b)| a * b).sum();
        *to += factor * product;
    }
}

/// `to -= left * right`.
pub fn subtract_product(to: &mut Block, left: &Block, right: &Block) {
    for (to, row) in to.iter_mut().zip(left) {
        for (factor, right) in row.iter().zip(right) {
            add(to, -factor, right);
        }
    }
}

/// Replaces `state` by the solution of `block * solution = state`, and the same for the columns of `right` if there
/// is one. Diagonals dominate here, so no rows are exchanged.
pub fn solve(mut block: Block, mut right: Option<&mut Block>, state: &mut State) {
    for column in 0..5 {
        let inverse = 1.0 / block[column][column];
        block[column].iter_mut().for_each(|value| *value *= inverse);
        state[column] *= inverse;
        if let Some(right) = &mut right {
            right[column].iter_mut().for_each(|value| *value *= inverse);
        }
        let pivot = block[column];
        for row in (0..5).filter(|row| *row != column) {
            let factor = block[row][column];
            add(&mut block[row], -factor, &pivot);
            state[row] -= factor * state[column];
            if let Some(right) = &mut right {
                let solved = right[column];
                add(&mut right[row], -factor, &solved);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_times_its_block_is_the_right_side() {
        let block: Block = std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                if row == column {
                    9.0
                } else {
                    (row * 5 + column) as f64 / 10.0
                }
            })
        });
        let wanted = [1.0, -2.0, 3.0, 0.5, 4.0];
        let mut state = wanted;
        let mut inverse = NOTHING;
        (0..5).for_each(|row| inverse[row][row] = 1.0);
        solve(block, Some(&mut inverse), &mut state);
        let (mut product, mut of_inverse) = ([0.0; 5], [0.0; 5]);
        add_product(&mut product, 1.0, &block, &state);
        add_product(&mut of_inverse, 1.0, &inverse, &wanted);
        for at in 0..5 {
            assert!((product[at] - wanted[at]).abs() < 1e-12);
            assert!((of_inverse[at] - state[at]).abs() < 1e-12);
        }
        let mut left: Block =
            std::array::from_fn(|row| std::array::from_fn(|column| f64::from(row == column)));
        subtract_product(&mut left, &block, &inverse);
        assert!(left.iter().flatten().all(|value| value.abs() < 1e-12));
    }
}
