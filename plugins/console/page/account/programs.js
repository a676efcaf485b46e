import { t } from './words.js'

/** @typedef {{ where: string, code: string }} Block a file or a language, and what belongs there */
/** @typedef {{ name: string, blocks: readonly Block[] }} Program */

/**
 * The settings of programs and libraries for this server. All read the token from a variable: a setting is easily shown
 * to others.
 * @param {{ text: string, model: string, mcp: string | undefined }} options `text`: the base address of text
 * generation, which ends with `/v1`; `mcp`: the address of the MCP server, if there is one
 * @returns {readonly Program[]}
 */
export const programs = ({ text, model, mcp }) => {
  const messages = text.replace(/\/v1$/, '')
  const variable = { where: t.connect.shell, code: "export SLUICE_TOKEN='sk-…'" }
  return [
    {
      name: 'codex',
      blocks: [
        {
          where: '~/.codex/config.toml',
          code: `model = "${model}"
model_provider = "sluice"

[model_providers.sluice]
name = "sluice"
base_url = "${text}"
env_key = "SLUICE_TOKEN"
wire_api = "responses"`,
        },
        variable,
      ],
    },
    {
      name: 'Claude Code',
      blocks: [
        {
          where: t.connect.shell,
          code: `export ANTHROPIC_BASE_URL=${messages}
export ANTHROPIC_AUTH_TOKEN='sk-…'
export ANTHROPIC_MODEL=${model}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}
claude`,
        },
      ],
    },
    {
      name: 'opencode',
      blocks: [
        {
          where: 'opencode.json',
          code: JSON.stringify(
            {
              $schema: 'https://opencode.ai/config.json',
              provider: {
                sluice: {
                  npm: '@ai-sdk/openai-compatible',
                  options: { baseURL: text, apiKey: '{env:SLUICE_TOKEN}' },
                  models: { [model]: {} },
                },
              },
              model: `sluice/${model}`,
            },
            null,
            2,
          ),
        },
        variable,
      ],
    },
    {
      name: 'qwen-code',
      blocks: [
        {
          where: t.connect.shell,
          code: `export OPENAI_BASE_URL=${text}
export OPENAI_API_KEY='sk-…'
export OPENAI_MODEL=${model}
qwen`,
        },
      ],
    },
    ...(mcp === undefined
      ? []
      : [
          {
            name: t.connect.mcp,
            blocks: [
              {
                where: `${t.connect.shell} (Claude Code)`,
                code: `claude mcp add --transport http sluice ${mcp} --header "Authorization: Bearer sk-…"`,
              },
              {
                where: `${t.connect.shell} (codex)`,
                code: `codex mcp add sluice --url ${mcp} --bearer-token-env-var SLUICE_TOKEN`,
              },
              variable,
            ],
          },
        ]),
    {
      name: t.connect.libraries,
      blocks: [
        {
          where: 'Python (openai)',
          code: `import os
from openai import OpenAI

client = OpenAI(base_url="${text}", api_key=os.environ["SLUICE_TOKEN"])
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
        },
        {
          where: 'JavaScript (openai)',
          code: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${text}', apiKey: process.env.SLUICE_TOKEN })
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
        },
        {
          where: 'Python (anthropic)',
          code: `import os
from anthropic import Anthropic

client = Anthropic(base_url="${messages}", auth_token=os.environ["SLUICE_TOKEN"])
answer = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.content[0].text)`,
        },
        {
          where: 'curl',
          code: `curl ${text}/chat/completions \\
  -H "Authorization: Bearer $SLUICE_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`,
        },
      ],
    },
  ]
}
