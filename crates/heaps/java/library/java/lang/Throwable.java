package java.lang;

public class Throwable implements java.io.Serializable {
    private String detailMessage;
    private Throwable cause = this;

    public Throwable() {}

    public Throwable(String message) {
        detailMessage = message;
    }

    public Throwable(String message, Throwable cause) {
        detailMessage = message;
        this.cause = cause;
    }

    public Throwable(Throwable cause) {
        detailMessage = cause == null ? null : cause.toString();
        this.cause = cause;
    }

    public String getMessage() {
        return detailMessage;
    }

    public String getLocalizedMessage() {
        return getMessage();
    }

    public Throwable getCause() {
        return cause == this ? null : cause;
    }

    public Throwable initCause(Throwable cause) {
        if (this.cause != this) throw new IllegalStateException("Can't overwrite cause", this);
        if (cause == this) throw new IllegalArgumentException("Self-causation not permitted", this);
        this.cause = cause;
        return this;
    }

    public final void addSuppressed(Throwable other) {
        if (other == this) throw new IllegalArgumentException("Self-suppression not permitted", other);
        if (other == null) throw new NullPointerException("Cannot suppress a null exception.");
    }

    public Throwable fillInStackTrace() {
        return this;
    }

    public native void printStackTrace();

    public String toString() {
        String message = getLocalizedMessage();
        return message == null ? getClass().getName() : getClass().getName() + ": " + message;
    }
}
