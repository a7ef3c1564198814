// Runs a program for WASI: node run.mjs PROGRAM [ARGUMENT...]. It sees this system's files.
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { WASI } from 'node:wasi';

// WASI's functions allocate, after which the garbage collector may run; node 20 calls them in a way in
// which it must not, and crashes now and then.
setFlagsFromString('--no-turbo-fast-api-calls');

const args = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1', args, env: process.env, preopens: { '/': '/' }, returnOnExit: true,
});
const program = await WebAssembly.compile(readFileSync(args[0]));
process.exitCode = wasi.start(await WebAssembly.instantiate(program, wasi.getImportObject()));
