// Opens the page in headless Chromium, lets it train, and fails unless the held-out loss is below the
// bigram's by then and the weights are a safetensors file:
//   node test.mjs PAGE STEPS [FOLDER]
// FOLDER gets pictures of the page, also as a telephone shows it, and the weights. Prints one line.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [page, steps, folder] = process.argv.slice(2);
if (!existsSync(page ?? '')) {
  console.error(`test.mjs: there is no page ${page}; ./run web makes it`);
  process.exit(2);
}
const seconds = 300;  // the most that the page may need
const profile = mkdtempSync(join(tmpdir(), 'weft-web-'));
const browser = spawn('chromium', [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', `--user-data-dir=${profile}`,
  '--remote-debugging-pipe', 'about:blank',
], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });

// The DevTools protocol: messages in JSON, each followed by a zero byte.
const [, , , commands, events] = browser.stdio;
const pending = new Map();
const faults = [];
let unread = '';
let next = 1;
events.setEncoding('utf8');
events.on('data', (text) => {
  const messages = (unread + text).split('\0');
  unread = messages.pop();
  for (const message of messages.map((m) => JSON.parse(m))) {
    if (message.id) {
      const { resolve, reject } = pending.get(message.id);
      pending.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
    } else if (message.method === 'Runtime.exceptionThrown') {
      const { exceptionDetails: of } = message.params;
      faults.push(of.exception?.description ?? of.text);
    } else if (message.method === 'Network.requestWillBeSent') {
      const { url } = message.params.request;
      if (!/^(file|blob|data):/.test(url)) faults.push('the page asks for ' + url);
    }
  }
});
function send(method, params = {}, sessionId = undefined) {
  const id = next++;
  commands.write(JSON.stringify({ id, method, params, sessionId }) + '\0');
  return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
}

async function test() {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const tell = (method, params) => send(method, params, sessionId);
  const ask = async (expression) =>
    (await tell('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })).result.value;
  const device = { width: 900, height: 900, deviceScaleFactor: 1, mobile: false };
  await tell('Emulation.setDeviceMetricsOverride', device);
  await tell('Runtime.enable');
  await tell('Network.enable');
  await tell('Page.navigate', { url: pathToFileURL(page).href + '#auto=' + steps });

  const take = async (name, screen) => {
    await tell('Emulation.setDeviceMetricsOverride', screen);
    await ask('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const picture = await tell('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true });
    writeFileSync(join(folder, name), Buffer.from(picture.data, 'base64'));
  };

  const isDone = `typeof state !== 'undefined' && (state.failed !== null || state.written?.steps >= ${steps})`;
  for (const end = Date.now() + 1000 * seconds; !(await ask(isDone));) {
    if (faults.length || Date.now() > end) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  if (await ask('state.failed')) faults.push(await ask('state.failed'));
  if (faults.length) throw new Error(faults.join('\n'));
  if (!(await ask(isDone))) throw new Error(`not done after ${seconds} s`);

  const { taken, heldOut, bigram, perSecond } = await ask(`({ taken: state.steps, bigram: state.bigram,
      heldOut: state.heldOut.at(-1)[1], perSecond: state.steps / state.learned })`);
  const download = join(profile, `char_lm-${taken}.safetensors`);
  await send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: profile });
  await ask("element('save').click()");
  for (let i = 0; i < 100 && !existsSync(download); ++i) await new Promise((resolve) => setTimeout(resolve, 100));
  const file = readFileSync(download);
  const header = JSON.parse(file.subarray(8, 8 + Number(file.readBigUInt64LE(0))));
  if (folder) {
    await take('page.png', { ...device, height: await ask('document.documentElement.scrollHeight') });
    await tell('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
    await take('telephone.png', { ...device, width: 360, height: 740, mobile: true });
    if (await ask('document.documentElement.scrollWidth > innerWidth')) faults.push('a telephone shows only a part');
    writeFileSync(join(folder, 'char_lm.safetensors'), file);
  }
  if (!(heldOut < bigram)) faults.push(`held-out ${heldOut}, bigram ${bigram}`);
  const table = header['positions.weight'];
  if (table?.dtype !== 'F32' || `${table.shape}` !== '64,64') faults.push('no positions.weight in the file');
  if (faults.length) throw new Error(faults.join('\n'));
  console.log(`page: ${taken} steps, ${perSecond.toFixed(1)} steps/s, held-out ${heldOut.toFixed(3)} nats/byte, ` +
    `bigram ${bigram.toFixed(3)}, weights of ${file.length} bytes`);
}

try {
  const gone = new Promise((_, reject) => browser.on('exit', () => reject(new Error('Chromium has ended'))));
  const missing = new Promise((_, reject) => browser.on('error', reject));
  await Promise.race([test(), gone, missing]);
} catch (e) {
  console.error('page: ' + e.message);
  process.exitCode = 1;
}
browser.removeAllListeners('exit');
browser.on('exit', () => rmSync(profile, { recursive: true, force: true }));
browser.kill();
