; A binary heap in an array of three: the smallest comes first. With `bug`, a new element is not sifted up.
(class Heap ([(array int) cells] [int size])
  ((bool repOK
     (begin
       (if ((this $ cells) = null) (return false) else true)
       (if ((this $ size) < 0) (return false) else true)
       (if ((length (this $ cells)) < (this $ size)) (return false) else true)
       (if (1 < (this $ size)) (if (((this $ cells) # 1) < ((this $ cells) # 0)) (return false) else true) else true)
       (if (2 < (this $ size)) (if (((this $ cells) # 2) < ((this $ cells) # 0)) (return false) else true) else true)
       true))

   (bool insert [int value] [bool bug]
     (var int at := (this $ size) in
       (begin
         (if (at = (length (this $ cells))) (return false) else true)
         ((this $ cells) # at := value)
         (this $ size := (at + 1))
         (if bug (return true) else true)
         (if (0 < at)
             (if (((this $ cells) # at) < ((this $ cells) # 0))
                 (var int smaller := ((this $ cells) # at) in
                   (begin
                     ((this $ cells) # at := ((this $ cells) # 0))
                     ((this $ cells) # 0 := smaller)))
               else 0)
           else 0)
         true)))

   (bool check [int value] (begin (this @ insert value false) (assert (this @ repOK))))
   (bool checkBug [int value] (begin (this @ insert value true) (assert (this @ repOK))))))
(Heap check)
