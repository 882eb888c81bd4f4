int plugin_calls;

int plugin_add(int left, int right) {
    plugin_calls++;
    return left + right;
}
