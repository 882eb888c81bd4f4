; A sparse row: columns in order, no zero stored. With `bug`, setting a column to zero stores it.
(class Cell ([Cell next] [int column] [int value]) ())
(class Row ([Cell first])
  ((bool repOK
     (var Cell cell := (this $ first) in
     (var int last := -1 in
       (begin
         (while (cell != null)
           (begin
             (if ((cell $ column) <= last) (return false) else true)
             (if ((cell $ value) = 0) (return false) else true)
             (last := (cell $ column))
             (cell := (cell $ next))))
         true))))

   (int get [int column]
     (var Cell cell := (this $ first) in
       (begin
         (while (cell != null)
           (begin
             (if ((cell $ column) = column) (return (cell $ value)) else 0)
             (cell := (cell $ next))))
         0)))

   (bool set [int column] [int value] [bool bug]
     (var Cell before := null in
     (var Cell cell := (this $ first) in
     (var Cell made := (new Cell) in
       (begin
         (while (if (cell = null) false else ((cell $ column) < column))
           (begin (before := cell) (cell := (cell $ next))))
         (if (if (cell = null) false else ((cell $ column) = column))
             (begin
               (if (if bug false else (value = 0))
                   (if (before = null) (this $ first := (cell $ next)) else (before $ next := (cell $ next)))
                 else
                   (begin (cell $ value := value) null))
               (return true))
           else true)
         (if (value = 0) (return true) else true)
         (made $ column := column)
         (made $ value := value)
         (made $ next := cell)
         (if (before = null) (this $ first := made) else (before $ next := made))
         true)))))

   (bool check [int column] [int value]
     (begin
       (assume (0 <= column))
       (this @ set column value false)
       (assert (this @ repOK))
       (assert ((this @ get column) = value))))
   (bool checkBug [int column] [int value]
     (begin
       (assume (0 <= column))
       (this @ set column value true)
       (assert (this @ repOK))))))
(Row check)
