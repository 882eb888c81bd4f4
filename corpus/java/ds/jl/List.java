package jl;

/** The list of corpus/javalite/list.jl, statement by statement. */
class List {
    static class Data {}

    static class Node {
        Data elem;
        Node next;
    }

    Node head;
    Data d0, d1, d2, d3, d4;

    boolean repOK() {
        Node slow = head;
        Node fast = head;
        if (fast == null) return false;
        while (true) {
            fast = fast.next;
            if (fast == null) return true;
            fast = fast.next;
            if (fast == null) return true;
            slow = slow.next;
            if (slow == fast) return false;
        }
    }

    boolean contains(Data val) {
        Node node = head;
        while (true) {
            if (node.elem == val) return true;
            if (node.next == null) return false;
            node = node.next;
        }
    }

    boolean find(Data val) {
        return contains(val);
    }
}
