/*
 * The queue lock of Mellor-Crummey and Scott for two processes.
 * A fence before the lock is handed on.
 */
/* Processes are numbered from 1; 0 is nobody. */
byte tail;
bool locked[3];
byte next[3];
byte ncrit;

active [2] proctype user() {
  byte me = _pid + 1;
  byte before;
  byte after;
  bit alone;
again:
  next[me] = 0;
  locked[me] = true;
  before = xchg(tail, me);
  if
  :: before != 0 ->
     next[before] = me;
     (locked[me] == false)
  :: else
  fi;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  after = next[me];
  if
  :: after == 0 ->
     alone = cas(tail, me, 0);
     if
     :: alone -> goto again
     :: else -> (next[me] != 0)
     fi
  :: else
  fi;
  after = next[me];
  fence;
  locked[after] = false;
  goto again
}
