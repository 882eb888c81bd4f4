; A hash table with two chains, one for negative keys. With `bug`, a new key goes to the chain of the other half.
(class Entry ([Entry next] [int key] [int value]) ())
(class Table ([(array Entry) chains])
  ((bool repOK
     (var int at := 0 in
       (begin
         (if ((this $ chains) = null) (return false) else true)
         (if ((length (this $ chains)) = 2) true else (return false))
         (while (at < 2)
           (begin
             (var Entry entry := ((this $ chains) # at) in
             (var int fuel := 3 in
               (while (entry != null)
                 (begin
                   (if (fuel = 0) (return false) else true)
                   (fuel := (fuel - 1))
                   (if ((this @ chain (entry $ key)) = at) true else (return false))
                   (entry := (entry $ next))))))
             (at := (at + 1))))
         true)))

   (int chain [int key] (if (key < 0) 0 else 1))

   (Entry get [int key]
     (var Entry entry := ((this $ chains) # (this @ chain key)) in
       (begin
         (while (entry != null)
           (begin
             (if ((entry $ key) = key) (return entry) else null)
             (entry := (entry $ next))))
         null)))

   (bool put [int key] [int value] [bool bug]
     (var Entry entry := (this @ get key) in
     (var int at := (this @ chain key) in
       (begin
         (if (entry = null) true else (begin (entry $ value := value) (return true)))
         (if bug (at := (1 - at)) else 0)
         (entry := (new Entry))
         (entry $ key := key)
         (entry $ value := value)
         (entry $ next := ((this $ chains) # at))
         ((this $ chains) # at := entry)
         true))))

   (bool check [int key] [int value]
     (begin
       (this @ put key value false)
       (assert (if ((this @ get key) = null) false else (((this @ get key) $ value) = value)))))
   (bool checkBug [int key] [int value]
     (begin
       (this @ put key value true)
       (assert (if ((this @ get key) = null) false else (((this @ get key) $ value) = value)))))))
(Table check)
