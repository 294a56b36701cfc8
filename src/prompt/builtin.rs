//! Our own chat templates, for models that bring none. Which of them suits a model is decided elsewhere.

/// The template for a model that brings none: most models of today have seen this format.
pub const DEFAULT: &str = "chatml";

/// Names of all built-in templates, the default first.
pub const NAMES: [&str; 7] = ["chatml", "llama2", "llama3", "gemma", "mistral", "zephyr", "plain"];

/// The source of a built-in template.
pub fn builtin(name: &str) -> Option<&'static str> {
    Some(match name {
        "chatml" => CHATML,
        "llama2" => LLAMA2,
        "llama3" => LLAMA3,
        "gemma" => GEMMA,
        "mistral" => MISTRAL,
        "zephyr" => ZEPHYR,
        "plain" => PLAIN,
        _ => return None,
    })
}

const CHATML: &str = r"
{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}";

/// Each exchange is a sequence of its own; the system message opens the user message that follows it.
const LLAMA2: &str = r"
{%- set ns = namespace(system='') %}
{%- for message in messages %}
    {%- if message.role == 'system' %}
        {%- set ns.system = '<<SYS>>\n' + message.content + '\n<</SYS>>\n\n' %}
    {%- elif message.role == 'user' %}
        {{- bos_token + '[INST] ' + ns.system + message.content + ' [/INST]' }}
        {%- set ns.system = '' %}
    {%- else %}
        {{- ' ' + message.content + ' ' + eos_token }}
    {%- endif %}
{%- endfor %}
{%- if ns.system %}
    {{- bos_token + '[INST] ' + ns.system + ' [/INST]' }}
{%- endif %}";

const LLAMA3: &str = r"
{{- bos_token }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' + message.content | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}";

/// Knows no system role: such a message opens the user message that follows it.
const GEMMA: &str = r"
{{- bos_token }}
{%- set ns = namespace(system='') %}
{%- for message in messages %}
    {%- if message.role == 'system' %}
        {%- set ns.system = ns.system + message.content | trim + '\n\n' %}
    {%- else %}
        {{- '<start_of_turn>' + ('model' if message.role == 'assistant' else 'user') + '\n' }}
        {{- ns.system + message.content | trim + '<end_of_turn>\n' }}
        {%- set ns.system = '' %}
    {%- endif %}
{%- endfor %}
{%- if ns.system %}
    {{- '<start_of_turn>user\n' + ns.system | trim + '<end_of_turn>\n' }}
{%- endif %}
{%- if add_generation_prompt %}
    {{- '<start_of_turn>model\n' }}
{%- endif %}";

const MISTRAL: &str = r"
{{- bos_token }}
{%- set ns = namespace(system='') %}
{%- for message in messages %}
    {%- if message.role == 'system' %}
        {%- set ns.system = ns.system + message.content + '\n\n' %}
    {%- elif message.role == 'user' %}
        {{- '[INST] ' + ns.system + message.content + '[/INST]' }}
        {%- set ns.system = '' %}
    {%- else %}
        {{- ' ' + message.content + eos_token }}
    {%- endif %}
{%- endfor %}
{%- if ns.system %}
    {{- '[INST] ' + ns.system | trim + '[/INST]' }}
{%- endif %}";

const ZEPHYR: &str = r"
{%- for message in messages %}
    {{- '<|' + message.role + '|>\n' + message.content + eos_token + '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|assistant|>\n' }}
{%- endif %}";

/// For base models, which continue a script rather than answer.
const PLAIN: &str = r"
{{- bos_token }}
{%- for message in messages %}
    {%- if message.role == 'system' %}
        {{- message.content | trim + '\n\n' }}
    {%- else %}
        {{- message.role | capitalize + ': ' + message.content | trim + '\n\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- 'Assistant:' }}
{%- endif %}";
