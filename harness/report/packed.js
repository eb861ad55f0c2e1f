"use strict";
// What the page carries compressed, and files of numbers that a person saves.
const packed = (() => {
  const possible = "DecompressionStream" in window;

  // Digits of base 85 as Python writes them, with "," in the place of "<".
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

  // Bytes of a text in base 85: five digits make four bytes, the last ones fewer.
  const decoded = (text) => {
    const values = new Uint8Array(128);
    [...DIGITS].forEach((digit, value) => { values[digit.charCodeAt(0)] = value; });
    const groups = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
    for (let start = 0; start < text.length; start += 5) {
      let number = 0;
      for (let at = start; at < start + 5; at += 1)
        number = 85 * number + (at < text.length ? values[text.charCodeAt(at)] : 84);
      groups.setUint32((start / 5) * 4, number);
    }
    return groups.buffer.slice(0, Math.floor((text.length * 4) / 5));
  };

  const read = (id) => {
    const bytes = decoded(document.getElementById(id).textContent);
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
