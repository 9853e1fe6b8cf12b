/*
 * A value is made once, under a lock; whoever sees that it is there takes no lock.
 * Under PSO the flag may be in memory before the value.
 */
bool ready;
byte value;
byte lock;

active [2] proctype user() {
  byte seen;
end:
  do
  :: if
     :: !ready ->
        cas(lock, 0, 1);
        if
        :: !ready -> value = 7; ready = true
        :: else
        fi;
        seen = xchg(lock, 0)
     :: else
     fi;
     seen = value;
     assert(seen == 7)
  od
}
