// The board in the harbour office: one row a berth.

function assignBerth(board, ship, berth) {
  board.rows[berth] = ship.name;
  redrawBoard(board);
}

function redrawBoard(board) {
  for (const [berth, name] of Object.entries(board.rows)) {
    board.element.append(`${berth}: ${name || "free"}`);
  }
}
