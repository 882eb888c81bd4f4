package ds;

/** Dispatch, records, lambdas and switches over unknown objects. */
public class Shapes {
    interface Shape {
        int area();
    }

    record Square(int side) implements Shape {
        public int area() {
            return side * side;
        }
    }

    record Rectangle(int width, int height) implements Shape {
        public int area() {
            return width * height;
        }
    }

    static int twice(Shape shape) {
        java.util.function.IntUnaryOperator operator = area -> area * 2;
        return operator.applyAsInt(shape.area());
    }

    static String name(Shape shape) {
        if (shape instanceof Square square) return square.side() == 0 ? "point" : "square";
        return shape == null ? "nothing" : "rectangle";
    }

    static int ratio(int a, int b) {
        try {
            return a / b;
        } catch (ArithmeticException e) {
            return -1;
        }
    }
}
