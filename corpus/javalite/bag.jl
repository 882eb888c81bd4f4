; A bag: each key once, with how often it is there. With `bug`, a key that is gone stays with a count of zero.
(class Item ([Item next] [int key] [int count]) ())
(class Bag ([Item first])
  ((bool repOK
     (var Item item := (this $ first) in
     (var int fuel := 3 in
       (begin
         (while (item != null)
           (begin
             (if (fuel = 0) (return false) else true)
             (fuel := (fuel - 1))
             (if ((item $ count) <= 0) (return false) else true)
             (if (this @ again item) (return false) else true)
             (item := (item $ next))))
         true))))

   ; Whether the key of an item comes once more behind it.
   (bool again [Item item]
     (var Item other := (item $ next) in
     (var int fuel := 3 in
       (begin
         (while (other != null)
           (begin
             (if (fuel = 0) (return true) else true)
             (fuel := (fuel - 1))
             (if ((other $ key) = (item $ key)) (return true) else true)
             (other := (other $ next))))
         false))))

   (bool remove [int key] [bool bug]
     (var Item before := null in
     (var Item item := (this $ first) in
       (begin
         (while (if (item = null) false else ((item $ key) != key))
           (begin (before := item) (item := (item $ next))))
         (if (item = null) (return false) else true)
         (item $ count := ((item $ count) - 1))
         (if (if bug false else ((item $ count) = 0))
             (if (before = null) (this $ first := (item $ next)) else (before $ next := (item $ next)))
           else null)
         true))))

   (bool check [int key] (begin (this @ remove key false) (assert (this @ repOK))))
   (bool checkBug [int key] (begin (this @ remove key true) (assert (this @ repOK))))))
(Bag check)
