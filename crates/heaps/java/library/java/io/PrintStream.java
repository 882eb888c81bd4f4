package java.io;

public class PrintStream {
    PrintStream() {}

    private native void write(String text);

    private native void writeln(String text);

    private native void newLine();

    public native void flush();

    public void print(String text) {
        write(String.valueOf(text));
    }

    public void print(Object object) {
        write(String.valueOf(object));
    }

    public void print(int value) {
        write(String.valueOf(value));
    }

    public void print(long value) {
        write(String.valueOf(value));
    }

    public void print(char value) {
        write(String.valueOf(value));
    }

    public void print(boolean value) {
        write(String.valueOf(value));
    }

    public void print(float value) {
        write(String.valueOf(value));
    }

    public void print(double value) {
        write(String.valueOf(value));
    }

    public void println() {
        newLine();
    }

    public void println(String text) {
        writeln(String.valueOf(text));
    }

    public void println(Object object) {
        writeln(String.valueOf(object));
    }

    public void println(int value) {
        writeln(String.valueOf(value));
    }

    public void println(long value) {
        writeln(String.valueOf(value));
    }

    public void println(char value) {
        writeln(String.valueOf(value));
    }

    public void println(boolean value) {
        writeln(String.valueOf(value));
    }

    public void println(float value) {
        writeln(String.valueOf(value));
    }

    public void println(double value) {
        writeln(String.valueOf(value));
    }
}
