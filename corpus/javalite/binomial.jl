; A binomial heap: trees of growing degree in a list of siblings, the first child of each being of one degree less, and
; so on. Insertion joins trees of equal degree. With `bug`, the joined tree keeps its old degree.
(class Node ([Node child] [Node sibling] [int key] [int degree])
  ((bool tree [int low] [int degree]
     (begin
       (if ((this $ degree) = degree) true else (return false))
       (if ((this $ key) < low) (return false) else true)
       (var Node child := (this $ child) in
       (var int below := degree in
         (begin
           (while (0 < below)
             (begin
               (below := (below - 1))
               (if (child = null) (return false) else true)
               (if (child @ tree (this $ key) below) true else (return false))
               (child := (child $ sibling))))
           (child = null))))))))

(class Binomial ([Node first])
  ((bool repOK
     (var Node node := (this $ first) in
     (var int least := 0 in
       (begin
         (while (node != null)
           (begin
             (if ((node $ degree) < least) (return false) else true)
             (if (2 < (node $ degree)) (return false) else true)
             (if (node @ tree -1000 (node $ degree)) true else (return false))
             (least := ((node $ degree) + 1))
             (node := (node $ sibling))))
         true))))

   (Node joined [Node a] [Node b] [bool bug]
     (begin
       (if ((b $ key) < (a $ key)) (return (this @ joined b a bug)) else null)
       (b $ sibling := (a $ child))
       (a $ child := b)
       (if bug 0 else (a $ degree := ((a $ degree) + 1)))
       a))

   (bool insert [int key] [bool bug]
     (var Node made := (new Node) in
     (var Node rest := (this $ first) in
       (begin
         (assume (-1000 <= key))
         (made $ key := key)
         (while (if (rest = null) false else ((rest $ degree) = (made $ degree)))
           (var Node next := (rest $ sibling) in
             (begin
               (made := (this @ joined made rest bug))
               (rest := next))))
         (made $ sibling := rest)
         (this $ first := made)
         true))))

   (bool wellFormed
     (var Node node := (this $ first) in
     (var int least := 0 in
       (begin
         (while (node != null)
           (begin
             (if ((node $ degree) < least) (return false) else true)
             (if (node @ tree -1000 (node $ degree)) true else (return false))
             (least := ((node $ degree) + 1))
             (node := (node $ sibling))))
         true))))

   (bool check [int key] (begin (this @ insert key false) (assert (this @ wellFormed))))
   (bool checkBug [int key] (begin (this @ insert key true) (assert (this @ wellFormed))))))
(Binomial check)
