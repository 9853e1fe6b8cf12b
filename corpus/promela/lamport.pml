/*
 * Lamport's fast mutual exclusion for two processes, entered again and again.
 * Without fences both the stores and the looks after them may pass each other.
 */
bool b[3];
byte x, y;
byte ncrit;

active [2] proctype user() {
  byte me = _pid + 1;
  byte other = 2 - _pid;
start:
  b[me] = true;
  x = me;
  if
  :: y != 0 ->
     b[me] = false;
     (y == 0);
     goto start
  :: else
  fi;
  y = me;
  if
  :: x != me ->
     b[me] = false;
     (b[other] == false);
     if
     :: y != me ->
        (y == 0);
        goto start
     :: else
     fi
  :: else
  fi;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  y = 0;
  b[me] = false;
  goto start
}
