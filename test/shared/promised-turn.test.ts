import { expect, test } from 'bun:test'
import { PromisedTurn } from '../../plugins/shared/http/turn/promised-turn.ts'
import { busy } from '../../plugins/shared/http/turn/request-turns.ts'

class Turn extends PromisedTurn {
  readonly hasLeft = false
}

for (const refusal of [undefined, busy]) {
  test(`a turn that begins before its promise is made resolves ${refusal ? 'with the refusal' : 'without one'}`, async () => {
    const turn = new Turn()
    turn.begin(refusal)
    expect(await turn.untilBegun()).toBe(refusal)
  })

  test(`a turn that begins later resolves ${refusal ? 'with the refusal' : 'without one'}`, async () => {
    const turn = new Turn()
    const begun = turn.untilBegun()
    turn.begin(refusal)
    expect(await begun).toBe(refusal)
  })
}
