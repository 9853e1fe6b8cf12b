//! A value whose type is known only to its user.

/// A value on the heap.
#[derive(Debug)]
pub(crate) struct Erased {
    pointer: *mut (),
    drop: unsafe fn(*mut ()),
}

impl Erased {
    pub(crate) fn new<T>(value: T) -> Self {
        unsafe fn drop_value<T>(pointer: *mut ()) {
            // SAFETY: `new` made it of a box of this type.
            drop(unsafe { Box::from_raw(pointer.cast::<T>()) });
        }
        Erased { pointer: Box::into_raw(Box::new(value)).cast(), drop: drop_value::<T> }
    }

    /// Returns a pointer to the value.
    pub(crate) fn pointer(&self) -> *const () {
        self.pointer
    }

    /// Returns the value.
    ///
    /// # Safety
    /// The value must be of this type.
    pub(crate) unsafe fn into_inner<T>(self) -> T {
        let pointer = self.pointer;
        std::mem::forget(self);
        // SAFETY: the caller says that it was made of a box of this type, and it is not dropped.
        *unsafe { Box::from_raw(pointer.cast::<T>()) }
    }
}

impl Drop for Erased {
    fn drop(&mut self) {
        // SAFETY: the value is still there.
        unsafe { (self.drop)(self.pointer) };
    }
}
