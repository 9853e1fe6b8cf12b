//! A replacement for `std::sync::Arc`.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync as real;

use teetotal_program::Order;

use super::counts::{Last, Tag};
use super::weak::Weak;
use crate::heap::FaultKind;
use crate::hidden::unseen;
use crate::runtime::current_unguarded;

/// A thread-safe reference-counting pointer.
///
/// An `Arc` that is not dropped at the end of an execution is reported as a leak.
///
/// An `Arc<dyn Trait>` or `Arc<[T]>` is made from the one of the standard library, since only that can be coerced:
/// `Arc::from_std(std::sync::Arc::new(value))`.
pub struct Arc<T: ?Sized> {
    value: ManuallyDrop<real::Arc<T>>,
    tag: Tag,
}

/// A value that is not created because of a panic is not a leak.
struct Unmade(Tag, &'static Location<'static>);

impl Drop for Unmade {
    fn drop(&mut self) {
        self.0.gone(self.1);
    }
}

impl<T> Arc<T> {
    /// Creates an `Arc` that owns `value`.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::tagged(real::Arc::new(value), Location::caller())
    }

    /// Creates a pinned `Arc` that owns `value`.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: the value is on the heap and cannot be moved through pinned references.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    /// Creates an `Arc` whose value `f` builds from a weak reference to it.
    #[track_caller]
    pub fn new_cyclic<F>(f: F) -> Arc<T>
    where
        F: FnOnce(&Weak<T>) -> T,
    {
        let tag = Tag::new(0, Location::caller(), true);
        let unmade = Unmade(tag, Location::caller());
        let value = real::Arc::new_cyclic(|weak| {
            let weak = ManuallyDrop::new(Weak { value: ManuallyDrop::new(weak.clone()), tag });
            let value = f(&weak);
            drop(ManuallyDrop::into_inner(weak).into_std());
            value
        });
        std::mem::forget(unmade);
        tag.set_address(real::Arc::as_ptr(&value).cast::<()>() as usize);
        Arc { value: ManuallyDrop::new(value), tag }
    }

    /// Creates an `Arc` that is not tracked as a leak and whose reference counts are not observed.
    pub(crate) fn untracked(value: T, place: &'static Location<'static>) -> Arc<T> {
        let value = real::Arc::new(value);
        let address = real::Arc::as_ptr(&value).cast::<()>() as usize;
        let has_destructor = std::mem::needs_drop::<T>();
        let tag = if has_destructor { Tag::new(address, place, false) } else { Tag::uncounted(address) };
        Arc::with_tag(value, tag)
    }

    /// Returns the value if this is the only strong reference, otherwise the reference as an error.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        let (place, tag) = (Location::caller(), this.tag);
        tag.refuse_ended(FaultKind::UseAfterFree, place);
        if tag.take_last(place) == Some(false) {
            return Err(this);
        }
        match tag.let_go(|| real::Arc::try_unwrap(this.into_std())) {
            Ok(value) => {
                tag.gone(place);
                Ok(value)
            }
            Err(value) => Err(Arc { value: ManuallyDrop::new(value), tag }),
        }
    }

    /// Drops the reference, and returns the value if it was the last one.
    ///
    /// If `into_inner` is called on every reference, exactly one of the calls returns the value.
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        let (place, tag) = (Location::caller(), this.tag);
        tag.refuse_ended(FaultKind::DoubleFree, place);
        tag.note_counted(place);
        let is_last = || real::Arc::strong_count(&this.value) == 1;
        tag.strong_dropped(&is_last, place);
        if is_last() {
            tag.gone(place);
        }
        tag.let_go(|| real::Arc::into_inner(this.into_std()))
    }

    /// Returns the value, or a clone of it if there are other strong references.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }
}

impl<T: ?Sized> Arc<T> {
    fn tagged(value: real::Arc<T>, place: &'static Location<'static>) -> Self {
        let tag = Tag::new(real::Arc::as_ptr(&value).cast::<()>() as usize, place, true);
        Arc { value: ManuallyDrop::new(value), tag }
    }

    /// Returns the `Arc` of the standard library, without a change of the counts.
    fn into_std(self) -> real::Arc<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }

    pub(super) fn with_tag(value: real::Arc<T>, tag: Tag) -> Self {
        Arc { value: ManuallyDrop::new(value), tag }
    }

    /// Takes over the value of an `Arc` of the standard library, which may be unsized.
    ///
    /// # Panics
    /// If it is not the only reference.
    #[track_caller]
    pub fn from_std(mut value: real::Arc<T>) -> Self {
        assert!(real::Arc::get_mut(&mut value).is_some(), "the Arc given to `from_std` is not the only one");
        Arc::tagged(value, Location::caller())
    }

    /// Returns the number of strong references.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        this.tag.refuse_ended(FaultKind::UseAfterFree, Location::caller());
        let counts = this.tag.count(Order::Relaxed, Location::caller());
        counts.map_or_else(|| real::Arc::strong_count(&this.value), |(strong, _)| strong)
    }

    /// Returns the number of weak references.
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        this.tag.refuse_ended(FaultKind::UseAfterFree, Location::caller());
        let counts = this.tag.count(Order::Relaxed, Location::caller());
        counts.map_or_else(|| real::Arc::weak_count(&this.value), |(_, weak)| weak)
    }

    /// Creates a weak reference.
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        this.tag.refuse_ended(FaultKind::UseAfterFree, Location::caller());
        this.tag.weak_added(Location::caller());
        Weak { value: ManuallyDrop::new(real::Arc::downgrade(&this.value)), tag: this.tag }
    }

    /// Returns a mutable reference to the value if there is no other reference, strong or weak.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.tag.refuse_ended(FaultKind::UseAfterFree, Location::caller());
        if this.tag.count(Order::Acquire, Location::caller()).is_some_and(|counts| counts != (1, 0)) {
            return None;
        }
        real::Arc::get_mut(&mut this.value)
    }

    /// Returns whether two `Arc`s own the same value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        real::Arc::ptr_eq(&this.value, &other.value)
    }

    /// Turns the reference into a pointer to the value.
    pub fn into_raw(this: Self) -> *const T {
        real::Arc::into_raw(this.into_std())
    }

    /// Returns a pointer to the value.
    pub fn as_ptr(this: &Self) -> *const T {
        real::Arc::as_ptr(&this.value)
    }

    /// Turns a pointer back into a reference.
    ///
    /// # Safety
    /// The pointer must come from [`Arc::into_raw`], and must be turned back only once.
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        let tag = Tag::of(pointer.cast::<()>() as usize);
        // SAFETY: upheld by the caller.
        Arc { value: ManuallyDrop::new(unsafe { real::Arc::from_raw(pointer) }), tag }
    }

    /// Increments the strong count of the `Arc` behind a pointer.
    ///
    /// # Safety
    /// The pointer must come from [`Arc::into_raw`], and there must be an owner.
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: upheld by the caller; the reference is not dropped.
        let this = ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
        let _more = ManuallyDrop::new(Arc::clone(&this));
    }

    /// Decrements the strong count of the `Arc` behind a pointer.
    ///
    /// # Safety
    /// The pointer must come from [`Arc::into_raw`], and there must be an owner.
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: upheld by the caller.
        drop(unsafe { Arc::from_raw(pointer) });
    }
}

impl<T: Clone> Arc<T> {
    /// Returns a mutable reference to the value, cloning it if there are other strong references.
    ///
    /// If all other references are weak, the value is moved away from them and not cloned.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T {
        let place = Location::caller();
        let counts = this.tag.count(Order::Acquire, place);
        let counts =
            counts.unwrap_or_else(|| (real::Arc::strong_count(&this.value), real::Arc::weak_count(&this.value)));
        if counts.0 == 1 && counts.1 > 0 {
            // SAFETY: it is written back or replaced before anything can unwind.
            match Arc::try_unwrap(unsafe { std::ptr::read(this) }) {
                // SAFETY: the old one was consumed.
                Ok(value) => unsafe { std::ptr::write(this, Arc::tagged(real::Arc::new(value), place)) },
                // SAFETY: as above.
                Err(old) => unsafe { std::ptr::write(this, old) },
            }
        }
        if counts.0 > 1 || real::Arc::get_mut(&mut this.value).is_none() {
            *this = Arc::tagged(real::Arc::new((**this).clone()), place);
        }
        real::Arc::get_mut(&mut this.value).expect("there is no other reference")
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.tag.refuse_ended(FaultKind::UseAfterFree, Location::caller());
        self.tag.strong_added(Location::caller());
        Arc { value: self.value.clone(), tag: self.tag }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    fn drop(&mut self) {
        let place = Location::caller();
        self.tag.refuse_ended(FaultKind::DoubleFree, place);
        // If the counts are concrete, the order of the operations is that of the drops, so this is not known before.
        let is_last = || real::Arc::strong_count(&self.value) == 1;
        let how = self.tag.strong_dropped(&is_last, place);
        let is_last = is_last();
        let tag = self.tag;
        // SAFETY: it is not used again.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        if !is_last {
            return tag.let_go(|| drop(value));
        }
        tag.gone(place);
        // Weak references keep the memory, not the value.
        let memory = real::Arc::downgrade(&value);
        let drop_both = || {
            dropping(|| drop(value));
            tag.let_go(|| drop(memory));
        };
        match how {
            Last::Plain => drop_both(),
            Last::Unseen(name, known) => unseen(name, Some(&known), drop_both),
        }
    }
}

impl<T: ?Sized> Unpin for Arc<T> {}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Arc::new(value)
    }
}

impl<T: ?Sized> From<Box<T>> for Arc<T> {
    #[track_caller]
    fn from(value: Box<T>) -> Self {
        Arc::tagged(value.into(), Location::caller())
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    #[track_caller]
    fn from(values: Vec<T>) -> Self {
        Arc::tagged(values.into(), Location::caller())
    }
}

impl<T, const N: usize> From<[T; N]> for Arc<[T]> {
    #[track_caller]
    fn from(values: [T; N]) -> Self {
        Arc::tagged(values.into(), Location::caller())
    }
}

impl<T: Clone> From<&[T]> for Arc<[T]> {
    #[track_caller]
    fn from(values: &[T]) -> Self {
        Arc::tagged(values.into(), Location::caller())
    }
}

impl From<&str> for Arc<str> {
    #[track_caller]
    fn from(text: &str) -> Self {
        Arc::tagged(text.into(), Location::caller())
    }
}

impl From<String> for Arc<str> {
    #[track_caller]
    fn from(text: String) -> Self {
        Arc::tagged(text.into(), Location::caller())
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Arc::tagged(values.into_iter().collect(), Location::caller())
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + std::error::Error> std::error::Error for Arc<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        (**self).source()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (&raw const **self).fmt(f)
    }
}

/// Runs `f`, which drops what the last reference of an `Arc` refers to.
fn dropping(f: impl FnOnce()) {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            if let Some(execution) = current_unguarded() {
                execution.n_dropping.set(execution.n_dropping.get().saturating_sub(1));
            }
        }
    }
    if let Some(execution) = current_unguarded() {
        execution.n_dropping.set(execution.n_dropping.get() + 1);
    }
    let _end = End;
    f();
}
