; A line of text with a cursor: what is before it, nearest first, and what is after it. With `bug`, a step to the right
; takes one character along that it leaves where it was.
(class Cell ([Cell next] [int character]) ())
(class Cursor ([Cell before] [Cell after] [int left])
  ((int count [Cell cell]
     (var int count := 0 in
       (begin
         (while (cell != null)
           (begin
             (if (count = 4) (return -1) else 0)
             (count := (count + 1))
             (cell := (cell $ next))))
         count)))

   (bool apart
     (var Cell cell := (this $ before) in
       (begin
         (while (cell != null)
           (var Cell other := (this $ after) in
             (begin
               (while (other != null)
                 (begin (if (cell = other) (return false) else true) (other := (other $ next))))
               (cell := (cell $ next)))))
         true)))

   (bool repOK
     (begin
       (if ((this @ count (this $ after)) < 0) (return false) else true)
       (if ((this @ count (this $ before)) < 0) (return false) else true)
       (if (this @ apart) true else (return false))
       ((this $ left) = (this @ count (this $ before)))))

   (bool right [bool bug]
     (var Cell cell := (this $ after) in
       (begin
         (if (cell = null) (return false) else true)
         (if bug null else (this $ after := (cell $ next)))
         (cell $ next := (this $ before))
         (this $ before := cell)
         (this $ left := ((this $ left) + 1))
         true)))

   (bool type [int character]
     (var Cell cell := (new Cell) in
       (begin
         (cell $ character := character)
         (cell $ next := (this $ before))
         (this $ before := cell)
         (this $ left := ((this $ left) + 1))
         true)))

   (bool check
     (begin (assume ((this @ count (this $ before)) < 3)) (this @ right false) (assert (this @ repOK))))
   (bool checkBug
     (begin (assume ((this @ count (this $ before)) < 3)) (this @ right true) (assert (this @ repOK))))))
(Cursor check)
