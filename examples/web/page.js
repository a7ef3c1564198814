// Shows what the worker does. With #auto=STEPS the page trains at once and pauses after STEPS steps.
'use strict';

const element = (id) => document.getElementById(id);
const worker = new Worker(URL.createObjectURL(new Blob([element('worker').textContent], { type: 'text/javascript' })));
const automatic = Number(/^#auto=(\d+)$/.exec(location.hash)?.[1] ?? 0);

const state = {
  running: false, steps: 0, bigram: 0, learned: 0,  // learned: seconds of training
  batches: [],   // the loss of each step
  heldOut: [],   // [step, loss]
  positions: null, written: null, failed: null,
};
let isWriting = false;

function setRunning(running) {
  state.running = running;
  element('run').textContent = running ? 'Pause' : state.steps ? 'Go on' : 'Train';
  worker.postMessage({ kind: running ? 'run' : 'pause' });
  if (running) write();
}
function write() {
  if (isWriting) return;
  isWriting = true;
  worker.postMessage({ kind: 'write', count: 300, temperature: Number(element('temperature').value) });
}

const answers = {
  ready(message) {
    state.bigram = message.bigram;
    state.heldOut.push([0, message.heldOut]);
    state.positions = message.positions;
    element('bigram').textContent = message.bigram.toFixed(3);
    element('parameters').textContent = message.parameters.toLocaleString('en');
    element('run').disabled = element('save').disabled = false;
    if (automatic) setRunning(true);
  },
  trained(message) {
    state.steps = message.steps;
    state.learned += message.seconds;
    state.batches.push(...message.losses);
    state.positions = message.positions;
    if (message.heldOut !== null) state.heldOut.push([message.steps, message.heldOut]);
    element('steps').textContent = message.steps.toLocaleString('en');
    element('speed').textContent = (message.losses.length / message.seconds).toFixed(1);
    if (message.heldOut !== null && message.steps % 100 === 0 && state.running) write();
    if (automatic && message.steps >= automatic && message.heldOut !== null && state.running) {
      setRunning(false);
      write();
    }
  },
  written(message) {
    isWriting = false;
    state.written = message;
    element('text').textContent = message.text;
  },
  saved(message) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([message.file]));
    link.download = `char_lm-${message.steps}.safetensors`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  },
  failed(message) {
    state.failed = message.reason;
    element('failed').textContent = message.reason;
    element('failed').hidden = false;
  },
};
worker.onmessage = ({ data }) => {
  answers[data.kind](data);
  requestDrawing();
};
worker.onerror = (e) => answers.failed({ reason: e.message });

element('run').onclick = () => setRunning(!state.running);
element('save').onclick = () => worker.postMessage({ kind: 'save' });
element('temperature').oninput = () => {
  element('degrees').textContent = Number(element('temperature').value).toFixed(1);
  if (state.steps) write();
};

// Drawing, at most once for each frame of the screen.
let isRequested = false;
function requestDrawing() {
  if (isRequested) return;
  isRequested = true;
  requestAnimationFrame(() => {
    isRequested = false;
    drawCurve();
    drawPositions();
  });
}
addEventListener('resize', requestDrawing);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', requestDrawing);

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

function drawCurve() {
  const canvas = element('curve');
  const scale = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const c = canvas.getContext('2d');
  c.scale(scale, scale);
  c.font = '12px system-ui, sans-serif';

  const left = 24, bottom = 20, right = 8, top = 8;
  const most = Math.max(200, 2 ** Math.ceil(Math.log2(state.steps / 200 || 1)) * 200);
  const x = (step) => left + (step / most) * (width - left - right);
  const low = 0, high = 6;
  const y = (loss) => top + ((high - Math.min(Math.max(loss, low), high)) / (high - low)) * (height - top - bottom);

  c.lineWidth = 1;
  for (let loss = low; loss <= high; ++loss) {
    c.strokeStyle = colour('rule');
    line(c, [[left, y(loss)], [width - right, y(loss)]]);
    c.fillStyle = colour('faint');
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    c.fillText(loss, left - 8, y(loss));
  }
  c.textBaseline = 'bottom';
  for (const part of [0, 0.5, 1]) {
    c.textAlign = ['left', 'center', 'right'][2 * part];
    c.fillText((part * most).toLocaleString('en') + (part === 1 ? ' steps' : ''), x(part * most), height);
  }

  c.strokeStyle = colour('batch');
  const every = Math.max(1, Math.floor(state.batches.length / width));
  line(c, state.batches.filter((_, i) => i % every === 0).map((loss, i) => [x(i * every + 1), y(loss)]));
  c.lineWidth = 2;
  c.strokeStyle = colour('counted');
  c.setLineDash([6, 4]);
  if (state.bigram) line(c, [[left, y(state.bigram)], [width - right, y(state.bigram)]]);
  c.setLineDash([]);
  c.strokeStyle = colour('model');
  line(c, state.heldOut.map(([step, loss]) => [x(step), y(loss)]));

  const names = [['model', 'held-out'], ['batch', 'batch'], ['counted', 'bigram, held-out']];
  c.textAlign = 'right';
  c.textBaseline = 'top';
  names.forEach(([name, text], i) => {
    c.fillStyle = colour(name);
    c.fillText(text, width - right, top + 16 * i + 2);
  });
  if (state.heldOut.length) element('loss').textContent = state.heldOut.at(-1)[1].toFixed(3);
}
function line(c, points) {
  c.beginPath();
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.stroke();
}

function drawPositions() {
  if (!state.positions) return;
  const { rows, columns, values } = state.positions;
  let greatest = 1e-9;
  for (const value of values) greatest = Math.max(greatest, Math.abs(value));
  drawMap('table', rows, columns, (r, c) => values[r * columns + c] / greatest);
  const length = (r) => Math.sqrt(product(r, r)) || 1;
  const product = (a, b) => {
    let sum = 0;
    for (let c = 0; c < columns; ++c) sum += values[a * columns + c] * values[b * columns + c];
    return sum;
  };
  const lengths = Array.from({ length: rows }, (_, r) => length(r));
  drawMap('alike', rows, rows, (a, b) => product(a, b) / (lengths[a] * lengths[b]));
}
// value(row, column) is -1 to 1; 0 has the colour of the page.
function drawMap(id, rows, columns, value) {
  const canvas = element(id);
  canvas.width = columns;
  canvas.height = rows;
  const c = canvas.getContext('2d');
  const image = c.createImageData(columns, rows);
  const [low, zero, high] = ['low', 'zero', 'high'].map((name) => colour(name).split(',').map(Number));
  for (let r = 0; r < rows; ++r) {
    for (let k = 0; k < columns; ++k) {
      const v = value(r, k);
      const end = v < 0 ? low : high;
      const part = Math.min(Math.abs(v), 1);
      for (let i = 0; i < 3; ++i) image.data[4 * (r * columns + k) + i] = zero[i] + part * (end[i] - zero[i]);
      image.data[4 * (r * columns + k) + 3] = 255;
    }
  }
  c.putImageData(image, 0, 0);
}

worker.postMessage({
  kind: 'start', module: element('module').textContent, text: element('corpus').textContent, seed: 1,
});
