; Subclasses, dispatch, arrays: the total area of shapes in an array. `totalBug` runs one step too far.
(class Shape ([int size]) ((int area (this $ size))))
(class Square extends Shape () ((int area ((this $ size) * (this $ size)))))
(class Picture ([(array Shape) shapes])
  ((bool repOK (if ((this $ shapes) = null) false else true))
   (int total
     (var int sum := 0 in
     (var int at := 0 in
       (begin
         (while (at < (length (this $ shapes)))
           (begin
             (if (((this $ shapes) # at) = null) 0 else (sum := (sum + (((this $ shapes) # at) @ area))))
             (at := (at + 1))))
         sum))))
   (int totalBug
     (var int sum := 0 in
     (var int at := 0 in
       (begin
         (while (at <= (length (this $ shapes)))
           (begin
             (if (((this $ shapes) # at) = null) 0 else (sum := (sum + (((this $ shapes) # at) @ area))))
             (at := (at + 1))))
         sum))))))
(Picture total)
