package ds;

/** The list of corpus/javalite/list.jl, statement by statement. */
public class IntList {
    static class Node {
        Object elem;
        Node next;
    }

    Node head;

    /** Floyd: two runners, one twice as fast, never meet again. */
    boolean repOK() {
        Node slow = head, fast = head;
        while (fast != null) {
            fast = fast.next;
            if (fast == null) return true;
            fast = fast.next;
            slow = slow.next;
            if (fast != null && fast == slow) return false;
        }
        return true;
    }

    boolean contains(Object wanted) {
        Node node = head;
        while (node != null) {
            if (node.elem == wanted) return true;
            node = node.next;
        }
        return false;
    }
}
