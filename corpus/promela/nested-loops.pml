/*
 * A loop in a loop, both of which store, and end when they like; a lock by swapping beside them.
 */
bit lock;
byte ncrit;
byte inner, outer;

active [2] proctype user() {
  do
  :: cas(lock, 0, 1);
     ncrit++;
     assert(ncrit == 1);
     ncrit--;
     fence;
     lock = 0
  :: do
     :: inner = 1
     :: inner = 0; break
     od;
     outer = 1 - outer
  od
}
