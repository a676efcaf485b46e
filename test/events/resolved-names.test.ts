import { expect, test } from 'bun:test'
import { startProgram } from '../deno/fixture.ts'
import { denoBinary } from '../support/server.ts'

const program = 'test/events/resolved-names.ts'
const commands = {
  bun: [process.execPath, program],
  deno: [denoBinary(), 'run', '-A', program],
}

for (const [runtime, command] of Object.entries(commands)) {
  test(`a name is resolved like the system does, without its thread pool, and a look-up that ends has no open query (${runtime})`, async () => {
    await using child = startProgram(command)
    const { output, errors } = await child.ended()
    const none = 'the name has no address'
    const both = ['8.8.8.8', '1.1.1.1', '2a00::1']
    expect([errors, JSON.parse(output || '{}')]).toEqual([
      '',
      {
        ...{ both, letters: both, unreadable: both, six: ['2a00::1'], private: ['10.1.2.3', 'fd00::1'] },
        ...{ alias: ['8.8.8.8'], chain: ['8.8.8.8'], late: ['8.8.8.8'], half: ['8.8.8.8'], many: 16 },
        ...{ circle: none, broken: none, missing: none, deadline: none },
        ...{ 'wrong 64': none, 'wrong 4': none, 'wrong 407': none },
        hosts: [['10.9.9.9', 'fd00::5'], ['10.9.9.9']],
        localhost: [['127.0.0.1'], ['127.0.0.1', '::1']],
        askedForHosts: 0,
        changed: ['10.9.9.10'],
        service: [['10.2.0.1'], ['10.2.0.2']],
        fullName: none,
        searched: [
          ...['service.first.example A', 'service.second.example A'],
          ...['service.default.first.example A', 'service.default.second.example A', 'service A'],
        ],
        // 42 look-ups are open while a file is read, a password hashed, and a name of `fetch` resolved.
        meanwhile: [15, '$argon2id', 'hello', 42],
        stopped: ['the host cannot be reached at a public address', 0],
      },
    ])
  }, 300_000)
}
