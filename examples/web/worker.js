// Trains, writes and saves the model, in a thread of its own. Messages to it: start (module, text,
// seed), run, pause, write (count, temperature), save. Its answers are below.
'use strict';

let model = null;     // the exports of the module
let running = false;
let steps = 0;

// What the C library asks of a system. There are no files, and what is printed goes to the console.
const system = {
  memory: () => new DataView(model.memory.buffer),
  clock_time_get(id, precision, at) {
    system.memory().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
    return 0;
  },
  fd_write(file, parts, count, written) {
    const memory = system.memory();
    let text = '';
    let size = 0;
    for (let i = 0; i < count; ++i) {
      const at = memory.getUint32(parts + 8 * i, true);
      const length = memory.getUint32(parts + 8 * i + 4, true);
      text += bytesToText(new Uint8Array(model.memory.buffer, at, length));
      size += length;
    }
    console.log(text);
    memory.setUint32(written, size, true);
    return 0;
  },
  proc_exit(status) {
    throw new Error('the module has ended with ' + status);
  },
};
const notSupported = () => 52;  // ENOSYS

function bytesToText(bytes) {
  return new TextDecoder().decode(bytes.slice());
}
function textAt(at) {
  const bytes = new Uint8Array(model.memory.buffer);
  return bytesToText(bytes.subarray(at, bytes.indexOf(0, at)));
}

// From base64 of a gzip file.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function start(message) {
  const module = await WebAssembly.compile(await unpacked(message.module));
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = system[name] ?? notSupported;
  }
  model = (await WebAssembly.instantiate(module, imports)).exports;
  model._initialize();
  const text = await unpacked(message.text);
  const at = model.room(text.length);
  new Uint8Array(model.memory.buffer).set(text, at);
  const wrong = textAt(model.begin(message.seed));
  if (wrong) throw new Error(wrong);
  postMessage({
    kind: 'ready', parameters: model.parameters(), bigram: model.bigram(), heldOut: model.held_out(),
    positions: positions(),
  });
}

function positions() {
  const rows = model.position_count();
  const columns = model.position_width();
  return { rows, columns, values: new Float32Array(model.memory.buffer, model.positions(), rows * columns).slice() };
}

// Trains for a moment, reports, and lets messages in.
function train() {
  if (!running) return;
  const begin = performance.now();
  const losses = [];
  do {
    losses.push(model.step());
    ++steps;
  } while (performance.now() - begin < 150 && steps % 25 !== 0);
  const seconds = (performance.now() - begin) / 1000;
  const heldOut = steps % 25 === 0 ? model.held_out() : null;
  postMessage({ kind: 'trained', steps, losses, seconds, heldOut, positions: positions() });
  setTimeout(train, 0);
}

const actions = {
  start,
  run() {
    if (running) return;
    running = true;
    train();
  },
  pause() {
    running = false;
  },
  write(message) {
    const at = model.write(message.count, message.temperature);
    const text = bytesToText(new Uint8Array(model.memory.buffer, at, message.count));
    postMessage({ kind: 'written', text, steps });
  },
  save() {
    const size = model.save();
    const file = new Uint8Array(model.memory.buffer, model.saved(), size).slice();
    postMessage({ kind: 'saved', file, steps }, [file.buffer]);
  },
};

onmessage = async ({ data }) => {
  try {
    await actions[data.kind](data);
  } catch (e) {
    running = false;
    postMessage({ kind: 'failed', reason: e.message });
  }
};
