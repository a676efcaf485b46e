import { describe, expect, test } from 'bun:test'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { type EventEmitter, once } from 'node:events'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wholeLines } from '../../src/log/standard-error.ts'
import { createLog } from '../../src/log.ts'
import { repetitions } from '../support/repetitions.ts'
import { denoBinary, root } from '../support/server.ts'

const messagesOf = (text: string): readonly { msg: string; dropped?: number }[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

for (const code of ['ENOSPC', 'EAGAIN', 'EPIPE', 'EIO']) {
  test(`a line that cannot be written (${code}) is dropped, and the next one that can says how many were`, () => {
    let written = ''
    let fails = false
    const write = (line: string) => {
      if (fails) throw Object.assign(new Error(code), { code })
      written += line
    }
    const log = createLog({ level: 'info', secrets: [], write })
    log.info({}, 'before')
    fails = true
    for (let i = 0; i < 5; i++) log.info({}, 'lost')
    expect(log.droppedLines?.()).toBe(5)
    fails = false
    log.info({}, 'after')
    log.info({}, 'later')
    expect(messagesOf(written).map(({ msg, dropped }) => dropped ?? msg)).toEqual(['before', 5, 'after', 'later'])
    expect(log.droppedLines?.()).toBe(5)
  })
}

test('a line that is written in part is finished before the next one', () => {
  let written = ''
  let room = 7
  const write = wholeLines((bytes) => {
    if (room === 0) throw new Error('no room')
    const length = Math.min(room, bytes.length)
    room -= length
    written += Buffer.from(bytes.subarray(0, length)).toString()
    return length
  })
  write('first line\n')
  expect(written).toBe('first l')
  expect(() => write('second line\n')).toThrow('no room')
  room = 100
  write('third line\n')
  expect(written).toBe('first line\nthird line\n')
})

/** Logs many lines, tells how many were dropped, waits for its standard input, and logs one more. */
const program = `
  import process from 'node:process'
  import { createLog } from '${join(root, 'src/log.ts')}'
  const log = createLog({ level: 'info', secrets: [] })
  for (let i = 0; i < 300; i++) log.info({ text: 'x'.repeat(1000) }, 'many')
  console.log(log.droppedLines())
  process.stdin.once('data', () => {
    log.info({}, 'last')
    process.exit(0)
  })
`
const runtimes = {
  bun: [process.execPath, '-e', program],
  deno: [denoBinary(), 'eval', '--ext=ts', program],
}

for (const [runtime, [command = '', ...args]] of repetitions(...Object.entries(runtimes))) {
  describe(runtime, () => {
    const start = (standardError: number) =>
      spawn(command, args, { cwd: root, env: { PATH: process.env.PATH }, stdio: ['pipe', 'pipe', standardError] })

    const outputOf = async ({ stdout }: ChildProcess) => String((await once(stdout as EventEmitter, 'data'))[0])

    test('a process whose standard error is on a full disk goes on', async () => {
      const full = openSync('/dev/full', 'w')
      const child = start(full)
      try {
        expect(await outputOf(child)).toBe('300\n')
        child.stdin?.end('go')
        expect((await once(child, 'exit'))[0]).toBe(0)
      } finally {
        child.kill('SIGKILL')
        closeSync(full)
      }
    })

    test('a process whose standard error is a pipe that nobody reads goes on, and writes again when somebody reads', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-log-'))
      const path = join(folder, 'pipe')
      execFileSync('mkfifo', [path])
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
      const writer = openSync(path, 'w')
      const child = start(writer)
      const readAll = () => {
        const buffer = Buffer.alloc(2 ** 20)
        return buffer.toString('utf8', 0, readSync(reader, buffer))
      }
      try {
        const dropped = Number(await outputOf(child))
        expect(dropped).toBeGreaterThan(0)
        let text = readAll()
        child.stdin?.end('go')
        expect((await once(child, 'exit'))[0]).toBe(0)
        text += readAll()
        const lines = messagesOf(text)
        expect(lines.filter(({ msg }) => msg === 'many')).toHaveLength(300 - dropped)
        expect(lines.at(-2)).toMatchObject({ dropped })
        expect(lines.at(-1)?.msg).toBe('last')
      } finally {
        child.kill('SIGKILL')
        for (const descriptor of [reader, writer]) closeSync(descriptor)
        await rm(folder, { recursive: true, force: true })
      }
    })
  })
}
