import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { repetitions } from '../support/repetitions.ts'
import { runtimes } from './program.ts'

test.concurrent.each(repetitions(...Object.entries(runtimes)))(
  'on %s, what arrives while the process is blocked for longer than a timeout is read and answered',
  async (_, command) => {
    const [program = '', ...args] = command()
    const file = new URL('blocked-process.ts', import.meta.url).pathname
    const child = spawn(program, [...args, file], { stdio: ['ignore', 'pipe', 'inherit'] })
    expect(JSON.parse(await text(child.stdout))).toEqual({
      fresh: '200 answered',
      kept: '200 answered',
      body: '200 abcdef',
      head: '200 answered',
    })
  },
  300_000,
)
