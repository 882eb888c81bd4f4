"""Plots of cumulative lines as SVG, without a library."""

COLOURS = ["#2757c4", "#1d6f42", "#b3261e", "#8a5300", "#7459c6", "#4a525c"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 78, 16, 34, 40


def _ticks(most):
    step = 10.0 ** len(str(int(most))) / 100 if most >= 1 else 1e-4
    while most / step > 6:
        step *= 2.5 if str(step).lstrip("0.")[0] == "2" else 2
    return [step * at for at in range(int(most / step) + 1)]


def _number(value):
    for size, letter in ((2**30, "G"), (2**20, "M"), (2**10, "K")):
        if value >= 4 * size:
            return f"{value / size:.0f} {letter}"
    return f"{value:.3g}"


def plot(title, across, up, lines):
    """Return a drawing of lines by name: numbers of one action after the other."""
    count = max(len(line) for line in lines.values())
    most = max(max(line) for line in lines.values()) or 1
    x = lambda at: LEFT + (WIDTH - LEFT - RIGHT) * at / max(1, count - 1)
    y = lambda value: HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * max(0, value) / most
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/><text x="{LEFT}" y="20" font-size="13" font-weight="600">{title}</text>',
    ]
    for value in _ticks(most):
        parts.append(f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="#e1e4e8"/><text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{_number(value)}</text>')
    for at in range(0, count, 32):
        parts.append(f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{at}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{across}</text><text x="{LEFT - 6}" y="{TOP - 2}" text-anchor="end">{up}</text>')
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in enumerate(line))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts.append(f'<path d="M{LEFT + 12} {TOP + 12 + 15 * number}h18" stroke="{colour}" stroke-width="2"/><text x="{LEFT + 36}" y="{TOP + 16 + 15 * number}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
