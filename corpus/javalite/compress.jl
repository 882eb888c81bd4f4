; Disjoint sets with path compression: looking up hangs what was passed below the root. With `bug`, the root is hung
; below itself.
(class Element ([Element parent])
  ((bool ends [int fuel]
     (begin
       (if (fuel = 0) (return false) else true)
       (if ((this $ parent) = null) (return true) else true)
       ((this $ parent) @ ends (fuel - 1))))

   (Element root
     (var Element at := this in
       (begin (while ((at $ parent) != null) (at := (at $ parent))) at)))

   (Element find [bool bug]
     (var Element root := (this @ root) in
     (var Element at := this in
       (begin
         (while (if bug ((at $ parent) != root) else (at != root))
           (var Element up := (at $ parent) in
             (begin
               (at $ parent := root)
               (if (up = null) (return root) else null)
               (at := up))))
         root))))))

(class Compressed ([Element a] [Element b])
  ((bool repOK
     (begin
       (if ((this $ a) = null) (return false) else true)
       (if ((this $ b) = null) (return false) else true)
       (if ((this $ a) @ ends 3) ((this $ b) @ ends 3) else false)))

   (bool check
     (var Element before := ((this $ b) @ root) in
       (begin
         ((this $ a) @ find false)
         (assert ((this $ a) @ ends 3))
         (assert ((this $ b) @ ends 3))
         (assert (((this $ b) @ root) = before)))))
   (bool checkBug
     (begin
       ((this $ a) @ find true)
       (assert ((this $ a) @ ends 3))))))
(Compressed check)
