; A red-black tree in the manner of java.util.TreeMap: the whole invariant, then a search.
(class Node ([Node left] [Node right] [Node parent] [int key] [bool red])
  ((int height [int low] [int high]
     ; The black height, or -1 if something is wrong below.
     (var int left := 0 in
     (var int right := 0 in
       (begin
         (if ((this $ key) <= low) (return -1) else 0)
         (if (high <= (this $ key)) (return -1) else 0)
         (if ((this $ left) = null) 0 else
           (begin
             (if (((this $ left) $ parent) != this) (return -1) else 0)
             (if (this $ red) (if ((this $ left) $ red) (return -1) else 0) else 0)
             (left := ((this $ left) @ height low (this $ key)))
             (if (left < 0) (return -1) else 0)))
         (if ((this $ right) = null) 0 else
           (begin
             (if (((this $ right) $ parent) != this) (return -1) else 0)
             (if (this $ red) (if ((this $ right) $ red) (return -1) else 0) else 0)
             (right := ((this $ right) @ height (this $ key) high))
             (if (right < 0) (return -1) else 0)))
         (if (left != right) (return -1) else 0)
         (if (this $ red) left else (left + 1))))))))

(class TreeMap ([Node root])
  ((bool repOK
     (var Node root := (this $ root) in
       (begin
         (if (root = null) (return true) else true)
         (if (root $ red) (return false) else true)
         (if ((root $ parent) != null) (return false) else true)
         (0 <= (root @ height -1000 1000)))))

   (Node search [int key]
     (var Node node := (this $ root) in
       (begin
         (while (node != null)
           (begin
             (if ((node $ key) = key) (return node) else null)
             (if (key < (node $ key)) (node := (node $ left)) else (node := (node $ right)))))
         null)))))
(TreeMap search)
