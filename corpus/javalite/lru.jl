; A cache of at most two entries that forgets what was used longest ago; the newest comes first. With `bug`, an entry
; that is used again is put in front without being taken out.
(class Entry ([Entry next] [int key]) ())
(class Cache ([Entry newest])
  ((bool repOK
     (begin
       (if ((this $ newest) = null) (return true) else true)
       (if (((this $ newest) $ next) = null) (return true) else true)
       (if (((this $ newest) $ key) = (((this $ newest) $ next) $ key)) (return false) else true)
       ((((this $ newest) $ next) $ next) = null)))

   (bool use [int key] [bool bug]
     (var Entry entry := (this $ newest) in
     (var Entry made := (new Entry) in
       (begin
         (made $ key := key)
         (if (entry = null) (begin (this $ newest := made) (return true)) else true)
         (if ((entry $ key) = key) (return true) else true)
         (var Entry old := (entry $ next) in
           (begin
             (if (old = null) null else
               (if ((old $ key) = key)
                   (begin (made := old) (if bug null else (entry $ next := null)))
                 else
                   (entry $ next := null)))
             (made $ next := entry)
             (this $ newest := made)
             true))))))

   (bool check [int key]
     (begin
       (this @ use key false)
       (assert (((this $ newest) $ key) = key))
       (assert (this @ repOK))))
   (bool checkBug [int key] (begin (this @ use key true) (assert (this @ repOK))))))
(Cache check)
