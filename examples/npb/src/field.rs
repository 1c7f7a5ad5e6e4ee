//! Values at the points of a box, with two layers of neighbours around it.

use std::ops::{Index, IndexMut};

/// Layers around a box.
pub const LAYERS: isize = 2;

/// Values of a box. Indices begin at 0; those of neighbours are below, or at the side and above.
#[derive(Clone, Debug)]
pub struct Field<T> {
    sides: [usize; 3],
    values: Vec<T>,
}

impl<T: Copy> Field<T> {
    /// A box of equal values.
    pub fn new(sides: [usize; 3], value: T) -> Field<T> {
        let all = sides.map(|side| side + 2 * LAYERS as usize);
        Field {
            sides,
            values: vec![value; all.iter().product()],
        }
    }

    fn place(&self, at: [isize; 3]) -> usize {
        let [x, y, z] = at.map(|index| (index + LAYERS) as usize);
        let [wide, high, _] = self.sides.map(|side| side + 2 * LAYERS as usize);
        x + wide * (y + high * z)
    }
}

impl<T: Copy> Index<[isize; 3]> for Field<T> {
    type Output = T;

    fn index(&self, at: [isize; 3]) -> &T {
        &self.values[self.place(at)]
    }
}

impl<T: Copy> IndexMut<[isize; 3]> for Field<T> {
    fn index_mut(&mut self, at: [isize; 3]) -> &mut T {
        let place = self.place(at);
        &mut self.values[place]
    }
}
