import { expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { repetitions } from '../support/repetitions.ts'
import { denoBinary, type Runtime, root } from '../support/server.ts'

const runtimes: Readonly<Record<Runtime, () => readonly string[]>> = {
  bun: () => [process.execPath],
  deno: () => [denoBinary(), 'run', '-A'],
}

for (const [runtime, command] of repetitions(...Object.entries(runtimes))) {
  test(`a file is read from an allowed address only, within its bounds (${runtime})`, () => {
    const [program = '', ...args] = command()
    const env = { ...process.env, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' }
    const output = execFileSync(program, [...args, 'test/events/read-file.ts'], { cwd: root, env, encoding: 'utf8' })
    expect(JSON.parse(output)).toEqual({
      results: {
        file: 'some bytes',
        large: 'error: the file is too large',
        redirect: 'error: the host has not responded with the file',
        absent: 'error: the host has not responded with the file',
        short: expect.stringMatching(/^error: (?:the file is not complete|the connection was interrupted)$/),
        slow: 'error: no response in time',
        private: 'error: the address must be on the public internet',
        name: 'error: the address must be on the public internet',
        scheme: expect.stringContaining('must be an http or https URL'),
        credentials: expect.stringContaining('without credentials'),
        refused: 'error: the host is not reachable',
        aborted: expect.stringContaining('error: '),
      },
      requests: ['file', 'large', 'redirect', 'absent', 'short', 'slow'].map((path) => `GET /${path} 127.0.0.1:PORT`),
    })
  })
}
