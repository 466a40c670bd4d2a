// SPDX-License-Identifier: Apache-2.0
// thrown.cc - stacks that are left at once: by exceptions, by longjmp() and for another context, and what C++ calls indirectly.
//
// Every function stays on the stack while what it calls runs: it adds to `total` behind it.
#include "truth.h"

#include <ucontext.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define APART extern "C" __attribute__((noinline))

// Who calls whom.
static const char calls[] =
	", \"calls\": {\"main\": [\"turn\"], \"turn\": [\"catches\", \"rethrows\", \"sorts\", \"jumps\", \"contexts\", \"virtuals\", "
	"\"functions\", \"threads\"], "
	"\"catches\": [\"passes\", \"leaf\"], \"rethrows\": [\"catches_first\", \"leaf\"], \"catches_first\": [\"passes\", \"leaf\"], "
	"\"passes\": [\"passes_two\", \"destroyed\"], \"passes_two\": [\"passes_three\", \"destroyed\"], "
	"\"passes_three\": [\"throws\", \"destroyed\"], \"throws\": [\"leaf\"], \"destroyed\": [\"leaf\"], "
	"\"sorts\": [\"compares\", \"leaf\"], \"compares\": [\"leaf\"], "
	"\"jumps\": [\"deep\", \"leaf\"], \"deep\": [\"deep\", \"leaf\"], "
	"\"contexts\": [\"leaf\"], \"context\": [\"in_context\"], \"in_context\": [\"leaf\", \"catches\"], "
	"\"virtuals\": [\"virtual_one\"], \"virtual_one\": [\"leaf\"], \"functions\": [\"function\"], \"function\": [\"leaf\"], "
	"\"threads\": [], \"in_thread\": [\"leaf\", \"catches\"], \"at_end\": [\"leaf\"], \"leaf\": []}, "
	"\"first\": [\"main\", \"context\", \"in_thread\", \"at_end\"]";

static thread_local volatile uint64_t total;

APART uint64_t leaf(uint64_t turns)
{
	uint64_t sum = turns;

	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("add %1, %0" : "+r"(sum) : "r"(i));
	return sum;
}

// ---- exceptions

APART void destroyed()
{
	total = total + leaf(50);
	total = total + 1;
}

struct Guard {
	~Guard()
	{
		destroyed();
		total = total + 1;
	}
};

enum { KINDS = 4 };

APART void throws(int kind)
{
	total = total + leaf(20);
	if (kind == 0)
		throw std::runtime_error("an object");
	if (kind == 1)
		throw 42;
	if (kind == 2)
		throw std::string("one whose text is not in place, because it is so long");
	total = total + 1;
}

APART void passes_three(int kind)
{
	Guard guard;

	throws(kind);
	total = total + 1;
}

APART void passes_two(int kind)
{
	Guard guard;
	std::string text(40 + kind, 'x');

	passes_three(kind);
	total = total + text.size();
}

APART void passes(int kind)
{
	Guard guard;

	passes_two(kind);
	total = total + 1;
}

APART void catches(int kind)
{
	try {
		passes(kind);
	} catch (const std::runtime_error &) {
		total = total + leaf(30);
	} catch (int number) {
		total = total + leaf(number);
	} catch (...) {
		total = total + leaf(10);
	}
	total = total + 1;
}

APART void catches_first(int kind)
{
	try {
		passes(kind);
	} catch (...) {
		total = total + leaf(10);
		throw;
	}
}

APART void rethrows(int kind)
{
	try {
		catches_first(kind);
	} catch (...) {
		total = total + leaf(10);
	}
	total = total + 1;
}

static int compared;

APART int compares(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	total = total + leaf(5);
	if (++compared % 40 == 0)
		throw a;
	return a - b;
}

// Through a function of C.
APART void sorts()
{
	int numbers[20];

	for (int i = 0; i < 20; i++)
		numbers[i] = i * 7919 % 61;
	try {
		qsort(numbers, 20, sizeof numbers[0], compares);
	} catch (int) {
		total = total + leaf(10);
	}
	total = total + numbers[0];
}

// ---- longjmp

static jmp_buf place;

APART void deep(int depth)
{
	total = total + leaf(5);
	if (depth)
		deep(depth - 1);
	else
		longjmp(place, 1);
	total = total + 1;
}

APART void jumps()
{
	for (volatile int i = 0; i < 20; i = i + 1)
		if (!setjmp(place))
			deep(i % 5);
		else
			total = total + leaf(5);
	total = total + 1;
}

// ---- contexts

static ucontext_t outside, inside;

APART void in_context(int turn)
{
	total = total + leaf(100);
	catches(turn % KINDS);
	total = total + 1;
}

APART void context()
{
	for (int turn = 0;; turn++) {
		in_context(turn);
		swapcontext(&inside, &outside);
	}
}

APART void contexts()
{
	for (int i = 0; i < 20; i++) {
		swapcontext(&outside, &inside);
		total = total + leaf(20);
	}
	total = total + 1;
}

// ---- calls by pointers

APART void virtual_one(uint64_t turns)
{
	total = total + leaf(turns);
	total = total + 1;
}

struct First {
	virtual ~First() {}
	uint64_t word = 1;
};

struct Second {
	virtual ~Second() {}
	virtual void go() = 0;
};

struct One : First, Second {
	void go() override
	{
		virtual_one(50);
		total = total + 1;
	}
};

struct Two : One {
	void go() override
	{
		virtual_one(30);
		total = total + 1;
	}
};

APART void virtuals()
{
	One one;
	Two two;
	Second *all[] = { &one, &two };

	for (int i = 0; i < 20; i++) {
		Second *second = all[(total + i) & 1];
		second->go();
		total = total + (dynamic_cast<Two *>(second) != nullptr);
	}
}

APART bool function(int left, int right)
{
	total = total + leaf(3);
	return left < right;
}

APART void functions()
{
	std::vector<int> numbers;
	std::function<bool(int, int)> less = [](int left, int right) {
		bool is_less = function(left, right);
		total = total + 1;
		return is_less;
	};

	for (int i = 0; i < 60; i++)
		numbers.push_back(i * 7919 % 61);
	std::sort(numbers.begin(), numbers.end(), less);
	total = total + numbers[0];
}

// ---- threads

APART void at_end()
{
	total = total + leaf(1000);
	total = total + 1;
}

struct AtEnd {
	int number = 1;
	~AtEnd() { at_end(); }
};

static thread_local AtEnd ends;

APART void in_thread()
{
	total = total + ends.number;
	total = total + leaf(2000);
	catches(1);
	total = total + 1;
}

APART void threads()
{
	std::thread thread(in_thread);

	thread.join();
	total = total + 1;
}

APART void turn(int number)
{
	for (int i = 0; i < 10; i++) {
		catches(i % KINDS);
		rethrows(i % KINDS);
		sorts();
	}
	jumps();
	contexts();
	virtuals();
	functions();
	if (number % 100 == 0)
		threads();
	total = total + 1;
}

int main()
{
	static char stack[1 << 16];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof stack;
	makecontext(&inside, context, 0);
	truth_ready(calls);
	for (int number = 0; !truth_stop; number++)
		turn(number);
	printf("{}\n");
}
