// The answer of a provider, as a value: what keeps the host from reading it is no fault of the answer.
import t from 'tap';
import { parsedText } from '../../../plugins/ai/providers/answer-text.ts';
import { fillTextThread, LARGE_TEXT } from '../../support/busy-text-thread.ts';

t.test('an answer that cannot be read at present is not called unreadable', async t => {
  const answer = { text: `[${LARGE_TEXT}]`, headers: {} };
  const letGo = await fillTextThread(t);
  await t.rejects(parsedText(answer), { status: 503, message: /Too many large texts are being read; try again/ });
  await letGo();
  t.same(await parsedText(answer), []);
  await t.rejects(parsedText({ text: `[${LARGE_TEXT}`, headers: {} }), { status: 502, message: /check base_url/ });
});
