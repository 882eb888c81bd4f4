; A ring buffer in an array. `pushBug` writes one place too far when the end has wrapped around.
(class Buffer ([(array int) cells] [int start] [int size])
  ((bool repOK
     (begin
       (if ((this $ cells) = null) (return false) else true)
       (if ((length (this $ cells)) = 0) (return false) else true)
       (if ((this $ start) < 0) (return false) else true)
       (if ((length (this $ cells)) <= (this $ start)) (return false) else true)
       (if ((this $ size) < 0) (return false) else true)
       ((this $ size) <= (length (this $ cells)))))

   (int place [int index]
     (var int at := ((this $ start) + index) in
       (if (at < (length (this $ cells))) at else (at - (length (this $ cells))))))

   (bool push [int value]
     (begin
       (if ((this $ size) = (length (this $ cells))) (return false) else true)
       ((this $ cells) # (this @ place (this $ size)) := value)
       (this $ size := ((this $ size) + 1))
       true))

   (bool pushBug [int value]
     (begin
       ((this $ cells) # ((this $ start) + (this $ size)) := value)
       true))

   (bool check [int value]
     (begin
       (if (this @ push value) (assert (((this $ cells) # (this @ place ((this $ size) - 1))) = value)) else true)
       (assert (this @ repOK))))
   (bool checkBug [int value] (this @ pushBug value))))
(Buffer check)
