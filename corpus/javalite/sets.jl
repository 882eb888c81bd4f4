; Disjoint sets by rank: ranks grow along parents. `unionBug` does not count up when ranks are equal.
(class Element ([Element parent] [int rank])
  ((Element find
     (var Element at := this in
       (begin
         (while ((at $ parent) != null) (at := (at $ parent)))
         at)))
   (bool ranked [int fuel]
     (begin
       (if (fuel = 0) (return false) else true)
       (if ((this $ parent) = null) (return true) else true)
       (if (((this $ parent) $ rank) <= (this $ rank)) (return false) else true)
       ((this $ parent) @ ranked (fuel - 1))))))

(class Sets ([Element a] [Element b])
  ((bool repOK
     (begin
       (if ((this $ a) = null) (return false) else true)
       (if ((this $ b) = null) (return false) else true)
       (if (((this $ a) $ rank) < 0) (return false) else true)
       (if (((this $ b) $ rank) < 0) (return false) else true)
       (if ((this $ a) @ ranked 3) ((this $ b) @ ranked 3) else false)))

   (bool union [bool bug]
     (var Element a := ((this $ a) @ find) in
     (var Element b := ((this $ b) @ find) in
       (begin
         (if (a = b) (return true) else true)
         (assume ((a $ rank) < 1000))
         (assume ((b $ rank) < 1000))
         (if ((a $ rank) < (b $ rank))
             (begin (a $ parent := b) true)
           else
             (begin
               (b $ parent := a)
               (if bug true else
                 (if ((a $ rank) = (b $ rank)) (begin (a $ rank := ((a $ rank) + 1)) true) else true)))))))) 

   (bool check
     (begin
       (this @ union false)
       (assert ((this $ a) @ ranked 5))
       (assert ((this $ b) @ ranked 5))
       (assert (((this $ a) @ find) = ((this $ b) @ find)))))
   (bool checkBug
     (begin
       (this @ union true)
       (assert ((this $ a) @ ranked 5))
       (assert ((this $ b) @ ranked 5))))))
(Sets check)
