/*
 * Lamport's fast mutual exclusion for two processes, entered again and again.
 * A fence after each store that announces something, and around the release for PSO.
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
  fence;
  if
  :: y != 0 ->
     b[me] = false;
     fence;
     (y == 0);
     goto start
  :: else
  fi;
  y = me;
  fence;
  if
  :: x != me ->
     b[me] = false;
     fence;
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
  fence;
  y = 0;
  fence;
  b[me] = false;
  goto start
}
