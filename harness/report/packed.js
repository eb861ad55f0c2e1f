"use strict";
// What the page carries compressed, and files of numbers that a person saves.
const packed = (() => {
  const possible = "DecompressionStream" in window;

  const read = (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };

  const run = async (id) => {
    const script = document.createElement("script");
    script.textContent = await read(id);
    document.head.append(script); // runs at once
    script.remove();
  };

  const quoted = (value) => {
    const text = String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  // Save columns, [name, values] each, as comma-separated values.
  const save = (columns, file) => {
    const rows = columns[0][1].map((_, row) => columns.map(([, values]) => values[row]));
    const lines = [columns.map(([name]) => name), ...rows].map((row) => row.map(quoted).join(",") + "\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(lines, { type: "text/csv" }));
    link.download = `${file}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // when it is saved for sure
  };

  return { possible, read, run, save };
})();
